// Package fake is an engine in memory whose faults a test chooses. It keeps the contract of package
// engine to the letter and no better: what the contract allows to go wrong, [Host.Inject] makes happen,
// and what it forbids but disks do, [Servers.Lose] and [Servers.Truncate].
//
//	servers := fake.New()
//	a, b := servers.Host("a"), servers.Host("b", "u1000") // b serves one owner alone
//	a.Inject(fake.LoseAck)                                // the next append is stored; a never hears of it
//
// Nothing runs in the background: a delayed append lands when [Servers.Land] is called, and all else
// happens inside of the calls. So a random test that fails, fails again.
//
// # Files, from top to bottom
//
//	objects.go  content beside the journals
//	host.go     the engine of one host
//	servers.go  the journals
//	feeds.go    followers
//	faults.go   what goes wrong
package fake
