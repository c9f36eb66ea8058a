// Package sharedtest holds a shared store in memory, which fails as a group of PostgreSQL servers
// does, and the contract that every shared.Store keeps.
//
//	Client.Append → network (lost, late) → server: locks → check → log
//	             → replication to the standby → visible to others → answer (lost, late)
//
// A Database has one primary server and a synchronous standby, of which only the length of its log
// is modeled. A transaction is visible once the standby has it, or once its wait was canceled,
// because its client closed the connection. Then a fail-over may lose what others have read.
//
// # Files
//
//	contract.go  Contract, for package postgres and the memory store
//	client.go    Client: one host and its network
//	database.go  Database: servers, fail-over, restore, clone
//	tables.go    rows and transactions
package sharedtest
