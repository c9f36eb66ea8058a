// Package top shows sessions in a terminal: ctxfs top. It is the list of ctxfs ui for work over ssh or in a
// container, and a client of the mount like any other. What it shows it gets from package overview; what has to be
// compiled to be seen it asks of [Config.Look].
//
// # What it promises
//
//   - Nothing is changed by looking.
//   - Only rows that are on the screen are read and watched, unless the order needs all of them. Nothing moves while
//     nothing changes.
//   - Keys are answered whatever the mount does: files are read beside the screen, never for it.
//   - Texts of sessions are shown as text. They move, hide and colour nothing.
//   - The terminal is as it was before when it ends.
//
// # Files, from top to bottom
//
//	top.go      the program, and the table alone
//	model.go    what is shown, and what messages change of it
//	keys.go     what keys do
//	view.go     the screen
//	feed.go     what reads the mount
//	detail.go   one session
//	columns.go  the columns of the list
//	order.go    sorting and filtering
//	cells.go    text in cells of a terminal, and its colours
//	config.go   what is shown, and where
package top
