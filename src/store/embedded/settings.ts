import { join } from 'node:path'
import { type Layout, port } from './layout.ts'

/**
 * What must hold whatever anybody writes into a configuration file: given on the command line, which outranks
 * postgresql.conf and ALTER SYSTEM.
 */
export function guarantees(layout: Layout): string[] {
  const fixed: Record<string, string> = {
    listen_addresses: '',
    port: String(port),
    // A list by its type: the quotes keep a comma or a space in the path from splitting it.
    unix_socket_directories: `"${layout.socketDir.replaceAll('"', '""')}"`,
    unix_socket_permissions: '0700',
    hba_file: join(layout.dataDir, 'pg_hba.conf'),
    fsync: 'on',
    synchronous_commit: 'on',
    full_page_writes: 'on',
  }
  // On macOS the default leaves commits in the drive's cache.
  if (process.platform === 'darwin') fixed.wal_sync_method = 'fsync_writethrough'
  return Object.entries(fixed).flatMap(([name, value]) => ['-c', `${name}=${value}`])
}

/** Written anew at every start and included by postgresql.conf; an operator's ALTER SYSTEM still outranks it. */
export const tuning = `# Written by Pawl at every start. To change a value use ALTER SYSTEM, which is read after this file.
max_connections = 60
shared_buffers = 32MB
work_mem = 4MB
maintenance_work_mem = 32MB
huge_pages = off
jit = off
# Worker processes would only sit idle beside queries as small as ours.
io_method = sync
max_worker_processes = 2
max_parallel_workers_per_gather = 0
autovacuum_worker_slots = 2
autovacuum_max_workers = 2
# Nothing replicates from here.
wal_level = minimal
max_wal_senders = 0
max_replication_slots = 0
max_logical_replication_workers = 0
max_wal_size = 64MB
min_wal_size = 16MB
timezone = 'UTC'
log_timezone = 'UTC'
log_destination = 'stderr'
logging_collector = off
log_line_prefix = '%m [%p] '
log_checkpoints = off
# Statements and DETAIL lines carry what users wrote; a failed statement is told to the client that sent it.
log_error_verbosity = terse
log_min_error_statement = panic
`

/** Trust, because only who may enter the 0700 socket directory can ask at all (see claimSocketDir); no line for any network. */
export const hostBasedAccess = 'local all all trust\n'
