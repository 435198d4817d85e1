/**
 * The programs that try the walls from inside, as source text: inside there is no file of ours. The shell goes first, because it has no
 * descriptors but those it was given; Node does what Node can, and perl, where there is one, makes the system calls that Node has no words for.
 */

/** Arguments: Node, the program for it, the program for perl, what to try as JSON. A listing's own descriptor is gone when it is looked at. */
export const shellSource = `
open=
for f in /proc/$$/fd/*; do [ -e "$f" ] && open="$open \${f##*/}"; done
exec "$1" --no-warnings --eval "$2" -- "$3" "$4" "$open"
`

/** Prints one line of JSON: per canary what was reached, why not, and for each kind of act whether it works where it is allowed. */
export const nodeSource = String.raw`
const [perl, given, descriptors] = process.argv.slice(1)
const fs = require('node:fs'), net = require('node:net'), { spawnSync } = require('node:child_process')
const bait = JSON.parse(given)
const told = { escaped: {}, held: {}, untested: {}, works: {} }
const reached = (canary, how) => { told.escaped[canary] ??= how }
const attempt = (canary, act) => {
  try {
    const how = act()
    if (how) reached(canary, how)
    else told.held[canary] ??= 'not there'
  } catch (error) { told.held[canary] ??= error.code ?? error.message }
}
const works = (name, act) => { try { told.works[name] = Boolean(act()) } catch (error) { told.works[name] = false } }
const text = (path) => fs.readFileSync(path, 'latin1')
const has = (path) => text(path).includes(bait.canary) && path

works('read', () => (fs.writeFileSync('own', 'own'), text('own') === 'own'))
works('proc', () => text('/proc/self/status').includes('Pid:'))
works('signal', () => process.kill(process.pid, 0))
attempt('read', () => bait.files.find((path) => { try { return has(path) } catch { return false } }))
attempt('write', () => (fs.appendFileSync(bait.made, 'made'), ''))
const variables = text('/proc/self/environ').split('\0').filter(Boolean).map((entry) => entry.split('=')[0])
works('env', () => variables.includes(bait.variable))
attempt('env', () => variables.filter((name) => !bait.variables.includes(name)).join(' '))
attempt('proc', () => {
  for (const pid of fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name)))
    for (const path of ['environ', 'cwd/' + bait.beside, ...(told.escaped.read ? [] : ['root' + bait.files[0]])])
      try { if (has('/proc/' + pid + '/' + path)) return pid + '/' + path } catch {}
  return ''
})
attempt('signal', () => {
  process.kill(bait.victim, 0)
  // A number may belong to somebody inside as well.
  return text('/proc/' + bait.victim + '/cmdline').includes(bait.mark) && String(bait.victim)
})
attempt('descriptor', () => descriptors.split(' ').filter((fd) => Number(fd) > 2).join(' '))

const calls = spawnSync('perl', ['-e', perl, String(bait.victim), bait.nested ? 'nested' : 'plain'], { encoding: 'utf8', timeout: 3000 })
const lines = calls.error ? [] : calls.stdout.split('\n')
for (const canary of ['raw socket', 'ptrace', 'mount']) {
  const line = lines.find((one) => one.startsWith(canary + ': '))
  if (!line) told.untested[canary] = calls.error?.code === 'ENOENT' ? 'there is no perl to make the calls with' : 'the calls could not be made'
  else if (line.endsWith(': blocked')) told.held[canary] = 'refused'
  else reached(canary, line.slice(canary.length + 2))
}

function knock(canary, where, say, isReached) {
  return new Promise((done) => {
    const socket = net.connect(where)
    let heard = ''
    const end = (why) => {
      if (isReached(heard)) reached(canary, heard.slice(0, 80))
      else told.held[canary] ??= why
      socket.destroy()
      done(heard)
    }
    socket.setTimeout(1500, () => end('no answer'))
    socket.on('connect', () => say && socket.write(say))
    socket.on('data', (chunk) => { heard += chunk.toString('latin1'); if (isReached(heard)) end('') })
    socket.on('error', (error) => end(error.code))
    socket.on('close', () => end('closed'))
  })
}
const isCanary = (heard) => heard.includes(bait.canary)
const door = bait.door && Number(new URL(text('/proc/self/environ').split('\0').find((entry) => entry.startsWith('PAWL_DOOR_URL=')).slice(14)).port)
const target = '127.0.0.1:' + bait.port
const wishes = door ? ['CONNECT ' + target + ' HTTP/1.1\r\nhost: ' + target + '\r\n\r\n', 'GET http://' + target + '/ HTTP/1.1\r\nhost: ' + target + '\r\nconnection: close\r\n\r\n',
  Buffer.from([4, 1, bait.port >> 8, bait.port & 255, 127, 0, 0, 1, 0])] : []
if (!door) told.untested.relay = 'the walls have no way out to try'
const own = net.createServer((socket) => socket.end('own'))
Promise.all([
  knock('connect', { host: '127.0.0.1', port: bait.port }, '', isCanary),
  knock('connect', { host: '::1', port: bait.port }, '', isCanary),
  ...bait.sockets.map((path) => knock('unix socket', { path }, '', isCanary)),
  knock('unix socket', { path: '\0' + bait.abstract }, '', isCanary),
  ...wishes.map((wish) => knock('relay', { host: '127.0.0.1', port: door }, wish, isCanary)),
  new Promise((done) => own.listen(0, '127.0.0.1', () => done(knock('', { host: '127.0.0.1', port: own.address().port }, '', () => false)))),
]).then((heard) => {
  told.works.connect = heard.at(-1) === 'own'
  delete told.held['']
  process.stdout.write(JSON.stringify(told) + '\n', () => process.exit(0))
})
`

/** Arguments: a process outside; whether namespaces may be made inside. Each call in a process of its own: a filter may end whoever makes it. */
export const perlSource = String.raw`
use POSIX ();
use Socket;
my ($victim, $nested) = (0 + $ARGV[0], $ARGV[1] eq 'nested');
my $machine = (POSIX::uname())[4];
my %n = $machine eq 'x86_64' ? (ptrace => 101, mount => 165, unshare => 272) : $machine eq 'aarch64' ? (ptrace => 117, mount => 40, unshare => 97) : ();
$| = 1;
sub attempt {
  my ($canary, @acts) = @_;
  for my $act (@acts) {
    my $pid = fork;
    defined $pid or return;
    if ($pid == 0) { alarm 2; exit($act->() ? 0 : 1) }
    waitpid $pid, 0;
    if ($? == 0) { print "$canary: reached\n"; return }
  }
  print "$canary: blocked\n";
}
socket(my $plain, AF_INET, SOCK_DGRAM, 0) or exit 1;
attempt('raw socket', sub { socket my $s, AF_INET, SOCK_RAW, 1 }, sub { socket my $s, 17, SOCK_RAW, 0x0300 }, sub { socket my $s, 40, SOCK_STREAM, 0 });
exit 0 unless %n;
attempt('ptrace', map { my $pid = $_; sub { syscall($n{ptrace}, 0x4206, $pid, 0, 0) == 0 } } 1, $victim);
my ($from, $here, $kind) = ('none', '.', 'tmpfs');
my $mount = sub { syscall($n{mount}, $from, $here, $kind, 0, 0) == 0 };
attempt('mount', $mount, $nested ? () : sub { syscall($n{unshare}, 0x10020000) == 0 && $mount->() });
`
