-- Version 1 of the schema. Hosts have no rights on tables: they call functions, which run with the
-- rights of the schema's owner and check the role of the session against ctx_grant.
--
-- Errors of the functions: CX001 conflict, CX002 missing, CX003 exists, CX004 denied,
-- CX005 another server, CX006 a setting that loses commits.

create table ctxfs.ctx_store (
	id uuid not null,
	format int not null,
	incarnation uuid not null -- renewed after a restore
);

-- The owner's row orders all changes of its names and files: each change takes the next version.
create table ctxfs.ctx_owner (
	owner text collate "C" primary key check (owner ~ '^(u[0-9]+|s.+)$'),
	version bigint not null
);

create table ctxfs.ctx_grant (
	role oid not null,
	owner text collate "C" not null,
	primary key (role, owner)
);

create table ctxfs.ctx_agent (
	id uuid primary key,
	owner text collate "C" not null,
	name text collate "C" not null,
	removed timestamptz,
	version bigint not null
);
create unique index on ctxfs.ctx_agent (owner, name) where removed is null;
create index on ctxfs.ctx_agent (owner, version);

-- One life of a session. Columns that change with each commit have no index, so that updates stay on
-- the page of the row.
create table ctxfs.ctx_session (
	journal uuid primary key,
	id uuid not null,
	owner text collate "C" not null,
	agent uuid not null references ctxfs.ctx_agent,
	name text collate "C" not null,
	next bigint not null, -- number and chain of the next entry
	head bytea not null check (octet_length(head) = 32),
	messages_bytes bigint not null,
	events_bytes bigint not null,
	base uuid references ctxfs.ctx_session,
	base_i bigint not null,
	root uuid not null,
	removed timestamptz,
	version bigint not null
) with (fillfactor = 50);
create unique index on ctxfs.ctx_session (agent, name) where removed is null;
create index on ctxfs.ctx_session (owner, version);
create index on ctxfs.ctx_session (base) where base is not null;

create table ctxfs.ctx_entry (
	journal uuid not null,
	i bigint not null,
	key uuid not null,
	rows bytea not null,
	body bytea not null,
	primary key (journal, i)
);
alter table ctxfs.ctx_entry alter column rows set storage external, alter column body set storage external;

create table ctxfs.ctx_file (
	owner text collate "C" not null,
	path bytea not null,
	version bigint not null,
	mode bigint not null,
	mtime timestamptz not null,
	uid bigint not null,
	gid bigint not null,
	xattrs bytea,
	target text not null,
	sha256 bytea not null,
	content bytea,
	removed boolean not null,
	primary key (owner, path)
);
create index on ctxfs.ctx_file (owner, version);

-- Pieces of 4 MiB. Content that fits into one smaller piece must have its hash.
create table ctxfs.ctx_object (
	owner text collate "C" not null,
	sha256 bytea not null,
	piece int not null,
	content bytea not null,
	primary key (owner, sha256, piece),
	check (octet_length(content) <= 4194304),
	check (piece > 0 or octet_length(content) = 4194304 or pg_catalog.sha256(content) = sha256)
);
alter table ctxfs.ctx_object alter column content set storage external;

create table ctxfs.ctx_host (
	role oid not null,
	name text collate "C" not null,
	boot uuid not null,
	version text not null,
	seen timestamptz not null,
	primary key (role, name)
) with (fillfactor = 50);

insert into ctxfs.ctx_store values (gen_random_uuid(), 1, gen_random_uuid());

-- server_1 returns a text that differs for each run of each server.
create function ctxfs.server_1() returns text language sql stable parallel safe as $$
	select (extract(epoch from pg_catalog.pg_postmaster_start_time()) * 1000000)::bigint::text
$$;

create function ctxfs.incarnation_1() returns table (incarnation uuid, format int) language sql stable security definer
set search_path = pg_catalog, pg_temp as $$
	select s.incarnation, s.format from ctxfs.ctx_store s
$$;

-- The functions up to append_1 have no search_path of their own, so that the server can inline them.
-- Hosts cannot call them; the functions that hosts call set it.

-- session_role returns the oid of the role that logged in.
create function ctxfs.session_role() returns oid language sql stable as $$
	select r.oid from pg_roles r where r.rolname = session_user
$$;

create function ctxfs.may(whose text) returns boolean language sql stable as $$
	select exists (select from ctxfs.ctx_grant g where g.owner = whose and g.role = ctxfs.session_role())
$$;

-- require_sync refuses to write in a session whose commits do not wait for the standby.
create function ctxfs.require_sync() returns void language plpgsql as $$
begin
	if current_setting('synchronous_commit') not in ('on', 'remote_apply') then
		raise exception 'synchronous_commit is %', current_setting('synchronous_commit') using errcode = 'CX006';
	end if;
end $$;

-- enter checks the right to change an owner's names and files, and returns the version of the change.
-- The update also makes a repeated call wait for its own first attempt, and for the standby.
create function ctxfs.enter(whose text) returns bigint language plpgsql as $$
declare
	v bigint;
begin
	if whose is null or not ctxfs.may(whose) then
		raise exception 'no such owner, or no right' using errcode = 'CX002';
	end if;
	perform ctxfs.require_sync();
	insert into ctxfs.ctx_owner as o values (whose, 1)
	on conflict (owner) do update set version = o.version + 1 returning version into v;
	return v;
end $$;

-- append stores one entry if the journal is at the expected position.
create function ctxfs.append(
	j uuid, at bigint, prev bytea, entry_key uuid, entry_rows bytea, entry_body bytea, after bytea,
	messages bigint, events bigint, ended timestamptz, ended_version bigint
) returns void language plpgsql as $$
declare
	stored bigint;
begin
	with h as (
		update ctxfs.ctx_session s set next = next + 1, head = after, messages_bytes = messages,
			events_bytes = events, removed = ended, version = coalesce(ended_version, version)
		where journal = j and next = at and head = prev and removed is null and ctxfs.may(s.owner)
		returning next - 1 as i
	)
	insert into ctxfs.ctx_entry select j, i, entry_key, entry_rows, entry_body from h returning i into stored;
	if stored is null then
		raise exception 'the journal is not at entry %', at using errcode = 'CX001';
	end if;
end $$;

create function ctxfs.append_1(
	j uuid, at bigint, prev bytea, entry_key uuid, entry_rows bytea, entry_body bytea, after bytea,
	messages bigint, events bigint
) returns void language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
begin
	perform ctxfs.require_sync();
	perform ctxfs.append(j, at, prev, entry_key, entry_rows, entry_body, after, messages, events, null, null);
end $$;

-- remove_1 stores the last entry of a journal. It locks the owner first, like all changes of names.
create function ctxfs.remove_1(
	j uuid, at bigint, prev bytea, entry_key uuid, entry_rows bytea, entry_body bytea, after bytea,
	messages bigint, events bigint
) returns void language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
declare
	whose text := (select s.owner from ctxfs.ctx_session s where s.journal = j);
begin
	if whose is null or not ctxfs.may(whose) then
		raise exception 'no such journal' using errcode = 'CX001';
	end if;
	perform ctxfs.append(
		j, at, prev, entry_key, entry_rows, entry_body, after, messages, events, now(), ctxfs.enter(whose));
end $$;

create function ctxfs.create_agent_1(new_id uuid, whose text, new_name text) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
declare
	v bigint := ctxfs.enter(whose);
begin
	insert into ctxfs.ctx_agent as a values (new_id, whose, new_name, null, v) on conflict (id) do nothing;
	perform 1 from ctxfs.ctx_agent a where a.id = new_id and a.owner = whose;
	if not found then
		raise exception 'no such agent' using errcode = 'CX002';
	end if;
end $$;

-- owner_of returns the owner of an agent, or null.
create function ctxfs.owner_of(a uuid) returns text language sql stable as $$
	select owner from ctxfs.ctx_agent where id = a
$$;

create function ctxfs.create_session_1(
	j uuid, session_id uuid, in_agent uuid, new_name text, base_journal uuid, upto bigint, start bytea,
	messages bigint, events bigint
) returns void language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
declare
	whose text := ctxfs.owner_of(in_agent);
	v bigint := ctxfs.enter(whose);
	top uuid := j;
begin
	perform 1 from ctxfs.ctx_session s where s.journal = j and s.owner = whose;
	if found then
		return;
	end if;
	perform 1 from ctxfs.ctx_agent a where a.id = in_agent and a.removed is null;
	if not found then
		raise exception 'the agent is removed' using errcode = 'CX002';
	end if;
	if base_journal is not null then
		select s.root into top from ctxfs.ctx_session s
		where s.journal = base_journal and s.owner = whose and s.next >= upto;
		if top is null then
			raise exception 'no such base' using errcode = 'CX002';
		end if;
	end if;
	insert into ctxfs.ctx_session values
		(j, session_id, whose, in_agent, new_name, upto, start, messages, events, base_journal, upto, top, null, v);
end $$;

-- append_child_1 stores an entry of a parent and creates the child that it names.
create function ctxfs.append_child_1(
	j uuid, at bigint, prev bytea, entry_key uuid, entry_rows bytea, entry_body bytea, after bytea,
	messages bigint, events bigint,
	child uuid, child_id uuid, child_agent uuid, child_name text, base_journal uuid, upto bigint, start bytea,
	child_messages bigint, child_events bigint
) returns void language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
begin
	perform ctxfs.create_session_1(
		child, child_id, child_agent, child_name, base_journal, upto, start, child_messages, child_events);
	perform ctxfs.append(j, at, prev, entry_key, entry_rows, entry_body, after, messages, events, null, null);
end $$;

create function ctxfs.rename_agent_1(a uuid, new_name text) returns void language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
declare
	v bigint := ctxfs.enter(ctxfs.owner_of(a));
begin
	update ctxfs.ctx_agent set name = new_name, version = v where id = a and removed is null;
	if not found then
		raise exception 'the agent is removed' using errcode = 'CX002';
	end if;
end $$;

create function ctxfs.remove_agent_1(a uuid) returns void language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
declare
	v bigint := ctxfs.enter(ctxfs.owner_of(a));
begin
	perform 1 from ctxfs.ctx_session s where s.agent = a and s.removed is null;
	if found then
		raise exception 'the agent has sessions' using errcode = 'CX003';
	end if;
	update ctxfs.ctx_agent set removed = now(), version = v where id = a and removed is null;
end $$;

create function ctxfs.rename_session_1(j uuid, to_agent uuid, new_name text) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
declare
	whose text := ctxfs.owner_of(to_agent);
	v bigint := ctxfs.enter(whose);
begin
	perform 1 from ctxfs.ctx_agent a where a.id = to_agent and a.removed is null;
	if found then
		update ctxfs.ctx_session s set agent = to_agent, name = new_name, version = v
		where s.journal = j and s.owner = whose and s.removed is null;
	end if;
	if not found then
		raise exception 'no such session or agent' using errcode = 'CX002';
	end if;
end $$;

-- state_1 returns one row; found is false if the database lacks the journal, or the role a right.
create function ctxfs.state_1(j uuid) returns table (
	server text, found boolean, root uuid, own bigint, next bigint, head bytea, removed boolean
) language sql stable security definer
set search_path = pg_catalog, pg_temp as $$
	select ctxfs.server_1(), s.journal is not null, s.root, s.base_i, s.next, s.head, s.removed is not null
	from (select) one left join ctxfs.ctx_session s on s.journal = j and ctxfs.may(s.owner)
$$;

-- lock_1 locks a journal for the rest of the transaction and returns its state.
create function ctxfs.lock_1(j uuid) returns table (
	server text, found boolean, root uuid, own bigint, next bigint, head bytea, removed boolean
) language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
begin
	perform 1 from ctxfs.ctx_session s where s.journal = j and ctxfs.may(s.owner) for update;
	return query select * from ctxfs.state_1(j);
end $$;

-- entries_1 returns entries of a journal or its bases, at least one, until they exceed most bytes.
create function ctxfs.entries_1(j uuid, from_i bigint, most bigint) returns table (
	i bigint, key uuid, rows bytea, body bytea
) language plpgsql stable security definer
set search_path = pg_catalog, pg_temp as $$
declare
	s ctxfs.ctx_session;
	below bigint := 9223372036854775807;
	total bigint := 0;
begin
	select * into s from ctxfs.ctx_session x where x.journal = j and ctxfs.may(x.owner);
	while s.base is not null and from_i < s.base_i loop
		below := least(below, s.base_i);
		select * into s from ctxfs.ctx_session x where x.journal = s.base;
	end loop;
	for i, key, rows, body in
		select e.i, e.key, e.rows, e.body from ctxfs.ctx_entry e
		where e.journal = s.journal and e.i >= from_i and e.i < below order by e.i
	loop
		return next;
		total := total + octet_length(rows) + octet_length(body);
		exit when total >= most;
	end loop;
end $$;

create function ctxfs.heads_1(journals uuid[]) returns table (
	journal uuid, next bigint, head bytea, removed boolean
) language sql stable security definer
set search_path = pg_catalog, pg_temp as $$
	select s.journal, s.next, s.head, s.removed is not null from ctxfs.ctx_session s
	where s.journal = any (journals)
	and s.owner in (select g.owner from ctxfs.ctx_grant g where g.role = ctxfs.session_role())
$$;

create function ctxfs.beat_1(host text, host_boot uuid, host_version text) returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
begin
	perform ctxfs.require_sync();
	perform 1 from ctxfs.ctx_grant g where g.role = ctxfs.session_role();
	if not found then
		raise exception 'the role has no owner' using errcode = 'CX004';
	end if;
	insert into ctxfs.ctx_host values (ctxfs.session_role(), host, host_boot, host_version, clock_timestamp())
	on conflict (role, name) do update
	set boot = excluded.boot, version = excluded.version, seen = excluded.seen;
	return ctxfs.server_1();
end $$;

create function ctxfs.fence_1(host text, host_boot uuid, host_version text, expected text) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
begin
	if expected <> ctxfs.server_1() then
		raise exception 'another server' using errcode = 'CX005';
	end if;
	perform ctxfs.beat_1(host, host_boot, host_version);
end $$;

create function ctxfs.agents_1(whose text, since bigint) returns table (
	id uuid, owner text, name text, removed boolean, version bigint
) language sql stable security definer
set search_path = pg_catalog, pg_temp as $$
	select a.id, a.owner, a.name, a.removed is not null, a.version from ctxfs.ctx_agent a
	where a.owner = whose and a.version > since and ctxfs.may(whose) order by a.version
$$;

create function ctxfs.sessions_1(whose text, since bigint) returns table (
	journal uuid, id uuid, agent uuid, name text, messages_bytes bigint, events_bytes bigint, removed boolean,
	version bigint
) language sql stable security definer
set search_path = pg_catalog, pg_temp as $$
	select s.journal, s.id, s.agent, s.name, s.messages_bytes, s.events_bytes, s.removed is not null, s.version
	from ctxfs.ctx_session s
	where s.owner = whose and s.version > since and ctxfs.may(whose) order by s.version
$$;

create function ctxfs.files_1(whose text, since bigint) returns table (
	path bytea, version bigint, mode bigint, mtime timestamptz, uid bigint, gid bigint, xattrs bytea, target text,
	sha256 bytea, content bytea, removed boolean
) language sql stable security definer
set search_path = pg_catalog, pg_temp as $$
	select f.path, f.version, f.mode, f.mtime, f.uid, f.gid, f.xattrs, f.target, f.sha256, f.content, f.removed
	from ctxfs.ctx_file f
	where f.owner = whose and f.version > since and ctxfs.may(whose) order by f.version
$$;

create function ctxfs.owner_version_1(whose text) returns bigint language sql stable security definer
set search_path = pg_catalog, pg_temp as $$
	select coalesce((select o.version from ctxfs.ctx_owner o where o.owner = whose and ctxfs.may(whose)), 0)
$$;

create function ctxfs.put_file_1(
	whose text, file bytea, expected bigint, new_mode bigint, new_mtime timestamptz, new_uid bigint, new_gid bigint,
	new_xattrs bytea, new_target text, new_sha256 bytea, new_content bytea, gone boolean
) returns bigint language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
declare
	v bigint := ctxfs.enter(whose);
	known bigint := coalesce(
		(select f.version from ctxfs.ctx_file f where f.owner = whose and f.path = file and not f.removed), 0);
begin
	if known <> expected then
		raise exception 'the file has version %', known using errcode = 'CX001';
	end if;
	insert into ctxfs.ctx_file values (whose, file, v, new_mode, new_mtime, new_uid, new_gid, new_xattrs, new_target,
		new_sha256, new_content, gone)
	on conflict (owner, path) do update set version = excluded.version, mode = excluded.mode, mtime = excluded.mtime,
		uid = excluded.uid, gid = excluded.gid, xattrs = excluded.xattrs, target = excluded.target,
		sha256 = excluded.sha256, content = excluded.content, removed = excluded.removed;
	return v;
end $$;

create function ctxfs.put_piece_1(whose text, sum bytea, number int, bytes bytea) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
begin
	if not ctxfs.may(whose) then
		raise exception 'no right' using errcode = 'CX004';
	end if;
	perform ctxfs.require_sync();
	insert into ctxfs.ctx_object values (whose, sum, number, bytes) on conflict do nothing;
	if not found then -- wait for an earlier attempt, and for the standby
		perform 1 from ctxfs.ctx_object o where o.owner = whose and o.sha256 = sum and o.piece = number for update;
	end if;
end $$;

create function ctxfs.piece_1(whose text, sum bytea, number int) returns bytea
language sql stable security definer
set search_path = pg_catalog, pg_temp as $$
	select o.content from ctxfs.ctx_object o
	where o.owner = whose and o.sha256 = sum and o.piece = number and ctxfs.may(whose)
$$;

-- durability_1 returns how many servers have a commit before it is acknowledged. The owner of the schema
-- needs pg_monitor to see the standbys of others.
create function ctxfs.durability_1() returns text language sql stable security definer
set search_path = pg_catalog, pg_temp as $$
	select case
		when current_setting('fsync') = 'off' or current_setting('synchronous_commit') in ('off', 'local') then 'unsafe'
		when current_setting('synchronous_standby_names') = '' then 'one server'
		when exists (select from pg_stat_replication where sync_state in ('sync', 'quorum')) then 'two servers'
		else 'unknown'
	end
$$;

-- Only other functions call these.
revoke execute on function ctxfs.session_role(), ctxfs.may(text), ctxfs.require_sync(), ctxfs.enter(text),
	ctxfs.owner_of(uuid),
	ctxfs.append(uuid, bigint, bytea, uuid, bytea, bytea, bytea, bigint, bigint, timestamptz, bigint)
	from public;
