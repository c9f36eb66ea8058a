package main

import (
	"bufio"
	"database/sql"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	_ "modernc.org/sqlite"
)

// driver is the name of a driver of database/sql, and what stands behind a file's name for it, with a place for SYNC.
type driver struct{ name, options string }

var drivers = map[string]driver{"modernc": {"sqlite", "?_pragma=journal_mode(WAL)&_pragma=synchronous(%s)"}}

func main() {
	log.SetFlags(0)
	if len(os.Args) < 6 {
		log.Fatal("usage: sqlite DRIVER SYNC OPERATION FILE ARGUMENT ...")
	}
	how, ok := drivers[os.Args[1]]
	if !ok {
		log.Fatalf("no driver %s", os.Args[1])
	}
	file, args := os.Args[4], os.Args[5:]
	db, err := sql.Open(how.name, "file:"+file+fmt.Sprintf(how.options, os.Args[2]))
	must(err)
	db.SetMaxOpenConns(1)
	must(db.Ping())
	var ns []float64
	switch os.Args[3] {
	case "append":
		ns = appendRecords(db, number(args[0]))
		sum := 0.0
		for _, v := range ns {
			sum += v
		}
		ns = []float64{sum / float64(len(ns))}
	case "fsync":
		ns = appendRecords(db, number(args[0]))
	case "newest":
		ns = newest(db, args[0], number(args[1]), number(args[2]), number(args[3]))
	case "fts5":
		ns = index(db, args[0])
	default:
		log.Fatalf("no operation %s", os.Args[3])
	}
	must(db.Close())
	must(json.NewEncoder(os.Stdout).Encode(ns))
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	must(err)
	return n
}

// table makes the table of messages, and returns a statement that appends one with its count of tokens.
func table(db *sql.DB) *sql.Stmt {
	_, err := db.Exec("create table if not exists message (id integer primary key autoincrement, tokens integer not null, body text not null)")
	must(err)
	insert, err := db.Prepare("insert into message (tokens, body) values (?, ?)")
	must(err)
	return insert
}

// appendRecords appends n records of 1 KiB, each in a transaction of its own, and returns what each took.
func appendRecords(db *sql.DB, n int) (ns []float64) {
	insert := table(db)
	records := make([]string, 64)
	for i := range records {
		record := fmt.Sprintf(`{"role":"user","content":"%06d `, i)
		records[i] = record + strings.Repeat("word ", 300)[:1024-len(record)-2] + `"}`
	}
	for i := range n {
		t := time.Now()
		_, err := insert.Exec(256, records[i%len(records)])
		ns = append(ns, float64(time.Since(t)))
		must(err)
	}
	return ns
}

// newest fills the table with the first records of a file of JSON lines, then appends count more, each of which is followed
// by a query of the newest ones that have at most limit tokens. It returns what each query took, with its text joined.
func newest(db *sql.DB, records string, first, count, limit int) (ns []float64) {
	insert := table(db)
	in, err := os.Open(records)
	must(err)
	lines := json.NewDecoder(bufio.NewReader(in))
	next := func(add func(tokens int, text string)) {
		var m struct {
			Tokens int
			Text   string
		}
		must(lines.Decode(&m))
		add(m.Tokens, m.Text)
	}
	tx, err := db.Begin()
	must(err)
	for range first {
		next(func(tokens int, text string) {
			_, err := tx.Stmt(insert).Exec(tokens, text)
			must(err)
		})
	}
	must(tx.Commit())
	query, err := db.Prepare("select tokens, body from message order by id desc")
	must(err)
	var prompt strings.Builder
	for range count {
		next(func(tokens int, text string) {
			_, err := insert.Exec(tokens, text)
			must(err)
		})
		t := time.Now()
		rows, err := query.Query()
		must(err)
		var texts []string
		for left := limit; rows.Next(); {
			var tokens int
			var text string
			must(rows.Scan(&tokens, &text))
			if left -= tokens; left < 0 {
				break
			}
			texts = append(texts, text)
		}
		must(rows.Close())
		prompt.Reset()
		for i := len(texts) - 1; i >= 0; i-- {
			prompt.WriteString(texts[i])
			prompt.WriteByte('\n')
		}
		ns = append(ns, float64(time.Since(t)))
	}
	if prompt.Len() == 0 {
		log.Fatal("no message has so few tokens")
	}
	return ns
}

// index indexes the contents of a log by FTS5, and returns the time of the processor that this took.
func index(db *sql.DB, file string) []float64 {
	_, err := db.Exec("create virtual table message using fts5(body, detail=none)")
	must(err)
	in, err := os.Open(file)
	must(err)
	begin := processor()
	tx, err := db.Begin()
	must(err)
	insert, err := tx.Prepare("insert into message (body) values (?)")
	must(err)
	for s := bufio.NewReader(in); ; {
		line, err := s.ReadBytes('\n')
		if len(line) == 0 {
			break
		}
		var m struct{ Content string }
		must(json.Unmarshal(line, &m))
		_, err = insert.Exec(m.Content)
		must(err)
	}
	must(tx.Commit())
	return []float64{processor() - begin}
}

// processor returns the time of the processors that this process has had, in nanoseconds.
func processor() float64 {
	var u syscall.Rusage
	must(syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return float64(u.Utime.Nano() + u.Stime.Nano())
}
