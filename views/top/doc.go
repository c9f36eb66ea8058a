// Package top shows sessions in a terminal (`ctxfs top`). [Run] gets a [Config] and a terminal;
// [Once] writes the list as plain text. Data comes from package overview; packs come from
// Config.Look.
//
//	feed.go (reads the mount, in the background) → messages → model.Update (model.go) → view.go
//	keys → press (keys.go) → model → wish → feed.go
//
// Decisions: keys: keys.go. Columns and their widths: columns.go. Sort order and filter: order.go.
// Content of a session's screen: detail.go. Intervals and time limits: feed.go, top.go. Colors and
// harmless text: cells.go. Sessions that are shown: config.go.
//
// Nothing is changed by looking. Only visible rows are read and watched, unless the order needs
// all. The methods of the model run one after the other and never read files, so keys work while
// the mount hangs.
//
// # Files, from top to bottom
//
//	top.go      Run, Once
//	model.go    state of the screen and its updates
//	keys.go     actions of keys
//	view.go     drawing of the screen
//	feed.go     reads of the mount
//	detail.go   screen of one session
//	columns.go  columns of the list
//	order.go    sort order and filter
//	cells.go    text and colors in terminal cells
//	config.go   sessions that are shown
package top
