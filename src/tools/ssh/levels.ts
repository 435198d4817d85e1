/** How much a command can do: 0 only looks, 1 keeps services going, 2 changes things that can be put right, 3 destroys or cuts off. */
export type Level = 0 | 1 | 2 | 3

interface Row {
  readonly level: Level
  readonly programs: readonly string[]
  /** Only with one of these as first word behind it; without, the program as such. */
  readonly verbs?: readonly string[]
  /** Words that make it more than that. */
  readonly not?: readonly string[]
  /** With more words than these that are no flags it is more than that. */
  readonly operands?: number
}

const words = (text: string) => text.split(' ')

/** The first row that fits counts. */
const rows: readonly Row[] = [
  {
    level: 0,
    programs: words(
      'ls cat head tail wc cut tr nl stat du df basename dirname realpath readlink pwd echo printf true false test [ cd',
    ),
  },
  { level: 0, programs: words('grep egrep fgrep zgrep zcat diff cmp md5sum sha256sum cksum strings od') },
  {
    level: 0,
    programs: words(
      'ps top uptime free vmstat iostat mpstat pidstat lsof pgrep who w last id whoami groups uname arch nproc lscpu lsblk lsmod cal',
    ),
  },
  { level: 0, programs: words('netstat ping dig host nslookup traceroute mtr') },
  { level: 0, programs: ['sort'], not: words('-o --output --compress-program -T') },
  { level: 0, programs: ['uniq'], operands: 1 },
  { level: 0, programs: words('hostname date'), operands: 0, not: words('-s --set -F --file -b --boot') },
  { level: 0, programs: ['tree'], not: ['-o'] },
  { level: 0, programs: ['file'], not: words('-C --compile') },
  { level: 0, programs: ['ss'], not: words('-K --kill') },
  { level: 0, programs: ['getent'], not: words('shadow gshadow') },
  { level: 0, programs: ['dmesg'], not: words('-C -c --clear --read-clear') },
  { level: 0, programs: ['find'], not: words('-exec -execdir -ok -okdir -delete -fprint -fprint0 -fprintf -fls') },
  {
    level: 0,
    programs: ['ip'],
    verbs: words('addr address a route r link l neigh -br -s -4 -6'),
    not: words('add del delete set flush change replace'),
  },
  {
    level: 0,
    programs: ['journalctl'],
    not: words('--rotate --flush --sync --vacuum-size --vacuum-time --vacuum-files --setup-keys'),
  },
  {
    level: 0,
    programs: ['systemctl'],
    verbs: words(
      'status show cat list-units list-unit-files list-timers list-sockets list-dependencies is-active is-enabled is-failed',
    ),
  },
  { level: 0, programs: words('docker podman'), verbs: words('ps logs images inspect stats top version info port diff') },
  {
    level: 0,
    programs: ['kubectl'],
    verbs: words('get describe logs top version cluster-info api-resources'),
    not: words('secret secrets'),
  },
  {
    level: 0,
    programs: ['git'],
    verbs: words('status log diff show rev-parse describe blame'),
    not: words('--output --ext-diff'),
  },
  { level: 0, programs: ['dpkg'], verbs: words('-l -s -L --list --status') },
  { level: 0, programs: ['apt-cache'] },
  { level: 0, programs: ['apt'], verbs: words('list show search policy') },
  { level: 0, programs: ['nginx'], verbs: words('-t -T -v -V') },

  { level: 1, programs: ['systemctl'], verbs: words('restart reload start try-restart reload-or-restart daemon-reload') },
  { level: 1, programs: ['service'] },
  { level: 1, programs: words('docker podman'), verbs: words('restart start') },
  { level: 1, programs: ['kubectl'], verbs: ['rollout'], not: ['undo'] },
  { level: 1, programs: ['nginx'], verbs: ['-s'], not: words('stop quit') },
  { level: 1, programs: words('logrotate sync sleep touch') },

  {
    level: 3,
    programs: words(
      'rm rmdir shred truncate unlink reboot shutdown halt poweroff init telinit userdel groupdel deluser kill pkill killall umount swapoff',
    ),
  },
  { level: 3, programs: words('systemctl find') },
  { level: 3, programs: words('docker podman'), verbs: words('run exec rm rmi kill stop prune system volume network') },
  { level: 3, programs: ['kubectl'], verbs: words('delete drain cordon scale replace') },
  { level: 3, programs: ['git'], verbs: words('reset clean push') },
  {
    level: 3,
    programs: words('apt apt-get yum dnf dpkg rpm'),
    verbs: words('remove purge autoremove erase -r -P -e dist-upgrade full-upgrade'),
  },
  {
    level: 3,
    programs: words('iptables ip6tables nft ufw firewall-cmd route crontab mysql psql mongo redis-cli sqlite3 dropdb dropuser'),
  },
]

/** What no row names changes things, as far as anybody knows. */
const unknown: Level = 2

export function levelOf(program: string, rest: readonly string[]): Level {
  const parts = rest.flatMap((word) => [word, ...word.split(/[=/,]/)])
  const operands = rest.filter((word) => !/^[-+]/.test(word)).length
  const row = rows.find(
    ({ programs, verbs, not = [], operands: most = Number.POSITIVE_INFINITY }) =>
      programs.includes(program) &&
      (verbs?.includes(rest[0] ?? '') ?? true) &&
      operands <= most &&
      !not.some((word) => parts.some((part) => isMeant(part, word))),
  )
  return row?.level ?? unknown
}

/** Short flags can be written together, and with their value. */
const isMeant = (given: string, word: string) =>
  given === word || (/^-[A-Za-z]$/.test(word) && /^-[A-Za-z]/.test(given) && given.includes(word[1]!))

export const isNamed = (program: string) => rows.some(({ programs }) => programs.includes(program))
