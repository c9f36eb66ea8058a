package postgres

import (
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/ctxfs/ctxfs/cluster/shared"
)

// Errors of Connect.
var (
	// ErrUnsafe reports a connection that is refused unless Options.Unsafe is set.
	ErrUnsafe = errors.New("refused without --unsafe")
	// ErrSettings reports a server or pooler that does not keep the settings of a session.
	ErrSettings = errors.New("the server did not accept a setting")
	// ErrSchema reports a database without the schema, or with a version that ctxfs cannot use.
	ErrSchema = errors.New("the database has no usable schema; run ctxfs cluster migrate")
)

// meanings of the SQLSTATE values of failed statements. The server rolled all of these back.
var meanings = map[string]error{
	"CX001": shared.ErrConflict,
	"CX002": shared.ErrMissing,
	"CX003": shared.ErrExists,
	"CX004": shared.ErrDenied,
	"CX005": shared.ErrMoved,
	"CX006": ErrSettings,
	"23505": shared.ErrExists,      // unique_violation
	"40001": shared.ErrUnavailable, // serialization_failure
	"40P01": shared.ErrUnavailable, // deadlock_detected
	"55P03": shared.ErrUnavailable, // lock_not_available
	"53100": shared.ErrUnavailable, // disk_full
	"53200": shared.ErrUnavailable, // out_of_memory
	"53300": shared.ErrUnavailable, // too_many_connections
	"25006": shared.ErrUnavailable, // read_only_sql_transaction
	"25P03": shared.ErrUnavailable, // idle_in_transaction_session_timeout
	"57P03": shared.ErrUnavailable, // cannot_connect_now
	"3F000": shared.ErrMissing,     // invalid_schema_name
	"42P01": shared.ErrMissing,     // undefined_table
	"42883": shared.ErrMissing,     // undefined_function
	"42501": shared.ErrDenied,      // insufficient_privilege
}

// outcome returns what the error of a statement means. changes says that the statement may change
// something. Of such a statement only an answer of the server proves that it did not.
func outcome(err error, changes bool) error {
	if err == nil {
		return nil
	}
	var answer *pgconn.PgError
	if errors.As(err, &answer) {
		if meaning, ok := meanings[answer.Code]; ok {
			return fmt.Errorf("%w: %w", meaning, err)
		}
		ended := strings.HasPrefix(answer.Code, "57P") || strings.HasPrefix(answer.Code, "08")
		if !ended && !strings.HasPrefix(answer.Code, "28") {
			return fmt.Errorf("the database refused a statement: %w", err)
		}
		if !ended {
			return fmt.Errorf("%w: %w", shared.ErrDenied, err)
		}
	}

	if !changes || pgconn.SafeToRetry(err) {
		return fmt.Errorf("%w: %w", shared.ErrUnavailable, err)
	}
	return fmt.Errorf("%w: %w", shared.ErrUnknown, err)
}
