# Tries to get out. One attempt is one forked child, so that a filter that kills, or a call that hangs, ends that attempt alone.
# Arguments: name=value. Prints, per attempt: row, open or blocked, what was tried, what came of it, separated by tabs.
use strict;
use warnings;
use Errno ();
use Fcntl qw(O_RDONLY O_WRONLY O_RDWR O_NONBLOCK O_APPEND F_SETFL);
use POSIX ();
use Socket;

my %given = map { split /=/, $_, 2 } @ARGV;
my %only = map { $_ => 1 } split /,/, $given{only} // '';
my $machine = (POSIX::uname())[4];
# x86-64 has numbers of its own for the older calls; from 424 on they are the same everywhere.
my %number = $machine eq 'x86_64'
    ? (clone => 56, ptrace => 101, mount => 165, umount2 => 166, pivot_root => 155, chroot => 161, add_key => 248, request_key => 249,
       keyctl => 250, mknodat => 259, unshare => 272, perf_event_open => 298, setns => 308, process_vm_readv => 310,
       process_vm_writev => 311, kcmp => 312, bpf => 321, userfaultfd => 323, ioctl => 16, kexec_load => 246, init_module => 175,
       open_by_handle_at => 304, swapon => 167, personality => 135, memfd_create => 319)
    : (clone => 220, ptrace => 117, mount => 40, umount2 => 39, pivot_root => 41, chroot => 51, add_key => 217, request_key => 218,
       keyctl => 219, mknodat => 33, unshare => 97, perf_event_open => 241, setns => 268, process_vm_readv => 270,
       process_vm_writev => 271, kcmp => 272, bpf => 280, userfaultfd => 282, ioctl => 29, kexec_load => 104, init_module => 105,
       open_by_handle_at => 265, swapon => 224, personality => 92, memfd_create => 279);
%number = (%number, pidfd_send_signal => 424, io_uring_setup => 425, open_tree => 428, move_mount => 429, fsopen => 430, fspick => 433,
    pidfd_open => 434, clone3 => 435, pidfd_getfd => 438, mount_setattr => 442);

$| = 1;
my ($workspace, $canary) = @given{qw(workspace canary)};
# A string would be passed to the kernel as an address.
my $victim = 0 + $given{victim};
my ($newNs, $newUser, $newNet) = (0x20000, 0x10000000, 0x40000000);

# The attempt returns what it reached, or nothing.
sub attempt {
    my ($row, $what, $act) = @_;
    return if %only && !$only{$row};
    pipe(my $read, my $write) or die "pipe: $!";
    my $pid = fork() // die "fork: $!";
    if ($pid == 0) {
        close $read;
        alarm 4;
        open STDERR, '>', '/dev/null';
        my $reached = eval { $act->() };
        my $reason = $@ || $! || '';
        $reason =~ s/[\t\n]/ /g;
        syswrite $write, defined $reached && $reached ne '' ? "open\t$reached" : "blocked\t$reason";
        POSIX::_exit(0);
    }
    close $write;
    my $answer = join '', <$read>;
    waitpid $pid, 0;
    $answer = 'blocked' . "\t" . 'ended by signal ' . ($? & 127) if $answer eq '';
    my ($verdict, $detail) = split /\t/, $answer, 2;
    $detail = substr($detail // '', 0, 200);
    $detail =~ s/[\t\n]/ /g;
    print join("\t", $row, $verdict, $what, $detail), "\n";
}

# A system call that succeeded, or nothing. Numbers and packed strings pass as they are.
sub call {
    my ($name, @arguments) = @_;
    $! = 0;
    my $result = syscall($number{$name}, @arguments);
    return $result == -1 ? undef : "$name gave $result";
}
sub text { my ($path) = @_; open my $file, '<', $path or return undef; local $/; return scalar <$file> }
sub has { my ($text) = @_; return defined $text && index($text, $canary) >= 0 ? 'read the canary' : undef }
sub opened { my ($path, $flags) = @_; sysopen(my $file, $path, $flags | O_NONBLOCK) or return undef; return "opened $path" }
sub put { my ($path, $text) = @_; open my $file, '>>', $path or return undef; print $file $text; close $file or return undef; return "wrote $path" }
sub listed { my ($path) = @_; opendir my $dir, $path or return undef; return grep({ !/^\.\.?$/ } readdir $dir) ? "listed $path" : undef }
sub pids { opendir my $dir, '/proc' or return (); return grep { /^\d+$/ } readdir $dir }
sub list { return split /:/, $given{$_[0]} // '' }

# 1-3: files
attempt(1, "read $_", sub { text($_) ? 'read it' : undef }) for '/etc/shadow', '/etc/gshadow', '/etc/sudoers';
for my $path (list('secrets')) { attempt(2, "read $path", sub { has(text($path)) }) }
for my $path (list('outside')) { attempt(3, "write $path", sub { put($path, 'made') }) }
attempt(3, "write in $_", sub { put("$_/pawl-escape-$canary", 'made') })
    for '/', '/etc', '/usr/local/bin', '/usr/lib', '/var/lib', '/var/tmp', '/opt', '/srv', '/run', '/boot';
attempt(4, 'write in the workspace', sub { put("$workspace/made", 'made') });
attempt(4, 'write in the own tmp', sub { put("/tmp/made-$$", 'made') && unlink("/tmp/made-$$") && 'wrote it' });
my ($elsewhere) = list('elsewhere');
attempt(5, 'write through a link to a file', sub { unlink "$workspace/link"; symlink("$elsewhere/through", "$workspace/link") or die $!; put("$workspace/link", 'made') });
attempt(5, 'write through a link to a directory', sub { unlink "$workspace/links"; symlink($elsewhere, "$workspace/links") or die $!; put("$workspace/links/through2", 'made') });
attempt(7, 'hardlink to a file outside', sub { link("$elsewhere/note", "$workspace/hard") ? has(text("$workspace/hard")) : undef });
attempt(7, 'hardlink of a secret through /proc/self/root', sub { link("/proc/self/root$elsewhere/note", "$workspace/hard2") ? 'linked' : undef });

# 9-11: other processes' files and environment
for my $pid (1, $victim, getppid()) {
    attempt(9, "read through /proc/$pid/$_", sub { has(text("/proc/$pid/$_$elsewhere/note")) }) for 'root';
    attempt(9, "read through /proc/$pid/cwd", sub { has(text("/proc/$pid/cwd/note")) });
}
attempt(9, 'read through any process', sub {
    for my $pid (pids()) { for ("root$elsewhere/note", 'cwd/note') { return "by $pid" if has(text("/proc/$pid/$_")) } }
    return undef;
});
attempt(9, 'read through a descriptor of any process', sub {
    for my $pid (grep { $_ != $$ } pids()) {
        opendir my $dir, "/proc/$pid/fd" or next;
        for (grep { /^\d+$/ } readdir $dir) {
            next unless (readlink("/proc/$pid/fd/$_") // '') =~ m{^/};
            next unless -f "/proc/$pid/fd/$_";
            return "fd $_ of $pid" if has(text("/proc/$pid/fd/$_"));
        }
    }
    return undef;
});
attempt(10, 'environment of process 1', sub { has(text('/proc/1/environ')) });
attempt(10, 'environment of any process', sub { for (grep { $_ != $$ && $_ != getppid() } pids()) { return "of $_" if has(text("/proc/$_/environ")) } undef });
attempt(10, 'arguments of any process', sub { for (grep { $_ != $$ && $_ != getppid() } pids()) { return "of $_" if index(text("/proc/$_/cmdline") // '', 'secret-argument') >= 0 } undef });
attempt(11, 'own environment', sub { has(join "\n", %ENV) });

# 12: kernel settings that run programs, or rule the machine; opening for writing is enough proof
attempt(12, "open $_ for writing", sub { opened($_, O_WRONLY) }) for qw(
    /proc/sys/kernel/core_pattern /proc/sys/kernel/modprobe /proc/sys/kernel/poweroff_cmd /proc/sys/kernel/hotplug /proc/sysrq-trigger
    /sys/kernel/uevent_helper /proc/sys/fs/binfmt_misc/register /proc/sys/vm/overcommit_memory /proc/sys/kernel/domainname
    /proc/sys/net/ipv4/ip_forward /sys/power/state /proc/irq/default_smp_affinity);
attempt(12, 'open a release_agent for writing', sub { for (glob('/sys/fs/cgroup/release_agent /sys/fs/cgroup/*/release_agent')) { return $_ if opened($_, O_WRONLY) } undef });
attempt(12, 'move itself to another cgroup', sub { for (glob('/sys/fs/cgroup/cgroup.procs /sys/fs/cgroup/*/cgroup.procs')) { return $_ if opened($_, O_WRONLY) } undef });
attempt(12, 'kexec_load', sub { call('kexec_load', 0, 0, 0, 0) }) unless $given{control};
attempt(12, 'init_module', sub { $! = 0; syscall($number{init_module}, 0, 0, ''); $!{EFAULT} || $!{ENOEXEC} ? 'reached the loader' : undef });

# 13-16: mounts and namespaces
mkdir "$workspace/mnt";
sub mounted { my ($how, @arguments) = @_; return call('mount', @arguments) ? $how : undef }
attempt(13, 'mount tmpfs', sub { mounted('tmpfs', 'none', "$workspace/mnt", 'tmpfs', 0, 0) });
attempt(13, 'bind mount', sub { mounted('bind', '/', "$workspace/mnt", 'none', 4096, 0) });
attempt(13, 'overlay mount', sub { mounted('overlay', 'none', "$workspace/mnt", 'overlay', 0, "lowerdir=/usr,upperdir=$workspace,workdir=$workspace/mnt") });
attempt(13, 'proc mount', sub { mounted('proc', 'none', "$workspace/mnt", 'proc', 0, 0) });
attempt(13, 'fsopen', sub { call('fsopen', 'tmpfs', 0) });
attempt(13, 'open_tree with clone', sub { call('open_tree', -100, '/', 1) });
attempt(13, 'unmount what hides', sub { call('umount2', $_, 2) && return "unmounted $_" for '/tmp', '/proc', list('covers'); undef });
attempt(13, 'pivot_root', sub { call('pivot_root', $workspace, "$workspace/mnt") });
attempt(13, 'chroot', sub { call('chroot', $workspace) });
attempt(14, 'remount / writable', sub { mounted('remount', 'none', '/', 'none', 32 | 4096, 0) });
attempt(14, 'remount / writable, the file system itself', sub { mounted('remount', 'none', '/', 'none', 32, 0) }) unless $given{control};
attempt(14, 'mount_setattr clears read-only', sub { call('mount_setattr', -100, '/', 0x8000, pack('Q4', 0, 1, 0, 0), 32) });
for my $path (list('covers')) { attempt(14, "remount $path writable", sub { mounted('remount', 'none', $path, 'none', 32 | 4096, 0) }) }
attempt(15, 'unshare a user namespace', sub { call('unshare', $newUser) });
attempt(15, 'unshare user and mounts, then mount', sub { call('unshare', $newUser | $newNs) && mounted('mounted inside', 'none', "$workspace/mnt", 'tmpfs', 0, 0) });
attempt(15, 'unshare mounts alone', sub { call('unshare', $newNs) });
attempt(15, 'unshare network alone', sub { call('unshare', $newNet) });
attempt(15, 'clone a user namespace', sub { my $pid = call('clone', $newUser | 17, 0, 0, 0, 0); defined $pid or return undef; POSIX::_exit(0) if $pid =~ / 0$/; 'cloned' });
attempt(15, 'clone3 a user namespace', sub {
    my $arguments = pack('Q11', $newUser, 0, 0, 0, 17, 0, 0, 0, 0, 0, 0);
    my $pid = call('clone3', $arguments, 88);
    defined $pid or return undef;
    POSIX::_exit(0) if $pid =~ / 0$/;
    'cloned';
});
attempt(15, 'enter the namespaces of process 1', sub {
    for my $kind (qw(user mnt net pid)) { open my $file, '<', "/proc/1/ns/$kind" or next; return $kind if call('setns', fileno $file, 0) }
    undef;
});
attempt(16, "make the $_->[0]", sub { call('mknodat', -100, "$workspace/node-$_->[0]", $_->[1], $_->[2]) })
    for ['disk', 060000 | 0666, 0x800], ['memory', 020000 | 0666, 0x101], ['null', 020000 | 0666, 0x103];

# 17-19: other processes
for my $pid (1, $victim) {
    attempt(17, "ptrace attach to $pid", sub { call('ptrace', 16, $pid, 0, 0) });
    attempt(17, "ptrace seize of $pid", sub { call('ptrace', 0x4206, $pid, 0, 0) });
    attempt(18, "process_vm_readv of $pid", sub {
        my ($address) = (text("/proc/$pid/maps") // '400000-401000 ') =~ /^([0-9a-f]+)-/;
        my $buffer = "\0" x 16;
        my $own = pack('P Q', $buffer, 16);
        my $theirs = pack('Q Q', hex($address // '400000'), 16);
        call('process_vm_readv', $pid, $own, 1, $theirs, 1, 0);
    });
    attempt(18, "pidfd_getfd from $pid", sub {
        my $pidfd = syscall($number{pidfd_open}, $pid, 0);
        return undef if $pidfd < 0;
        call('pidfd_getfd', $pidfd, $_, 0) && return "took its descriptor $_" for 0 .. 20;
        undef;
    });
    attempt(18, "open /proc/$_/mem", sub { opened("/proc/$_/mem", O_RDWR) }) for $pid, "$pid/task/$pid";
    attempt(18, "kcmp with $pid", sub { call('kcmp', $pid, $$, 0, 0, 0) });
}
attempt(19, 'signal an outer process', sub { kill('USR1', $victim) ? 'sent' : undef });
attempt(19, 'signal by pidfd', sub {
    my $pidfd = syscall($number{pidfd_open}, $victim, 0);
    $pidfd < 0 ? undef : call('pidfd_send_signal', $pidfd, 10, 0, 0);
});
attempt(19, 'see an outer process', sub { -d "/proc/$victim" && has(text("/proc/$victim/environ")) });

# 20-22, 26: network. A packet that leaves without an answer counts as open.
sub reach {
    my ($type, $address, $family) = @_;
    socket(my $socket, $family // AF_INET, $type, 0) or return undef;
    fcntl($socket, F_SETFL, O_NONBLOCK);
    my $connected = connect($socket, $address);
    if (!$connected && !$!{EINPROGRESS}) { return undef }
    if ($type == SOCK_DGRAM) { return defined(send($socket, $canary, 0)) ? 'sent a packet' : undef }
    my $wanted = '';
    vec($wanted, fileno($socket), 1) = 1;
    select(undef, my $ready = $wanted, undef, 0.3) or return 'a connection is under way';
    my $error = unpack('i', getsockopt($socket, SOL_SOCKET, SO_ERROR));
    return 'connected' if $error == 0;
    $! = $error;
    # Refused by somebody is reached all the same, unless it is the walls' own loopback.
    return $!{ECONNREFUSED} && !$_[3] ? 'refused from outside' : undef;
}
sub at { my ($host, $port) = @_; pack_sockaddr_in($port, inet_aton($host)) }
sub at6 { my ($host, $port) = @_; pack_sockaddr_in6($port, Socket::inet_pton(AF_INET6, $host)) }
attempt(20, "connect to $_:$given{port}", sub { reach(SOCK_STREAM, at($_, $given{port}), AF_INET, 1) }) for '127.0.0.1', '0.0.0.0', '127.0.0.2', list('addresses');
attempt(20, "connect to [$_]:$given{port}", sub { reach(SOCK_STREAM, at6($_, $given{port}), AF_INET6, 1) }) for '::1', '::ffff:127.0.0.1';
attempt(21, 'connect to 169.254.169.254', sub { reach(SOCK_STREAM, at('169.254.169.254', 80)) });
attempt(21, 'connect to fd00:ec2::254', sub { reach(SOCK_STREAM, at6('fd00:ec2::254', 80), AF_INET6) });
attempt(22, 'TCP to 192.0.2.1', sub { reach(SOCK_STREAM, at('192.0.2.1', 80)) });
attempt(22, 'TCP to 2001:db8::1', sub { reach(SOCK_STREAM, at6('2001:db8::1', 80), AF_INET6) });
attempt(22, 'UDP to 192.0.2.1', sub { reach(SOCK_DGRAM, at('192.0.2.1', 53)) });
attempt(22, 'UDP to a group', sub { reach(SOCK_DGRAM, at('224.0.0.251', 5353)) });
attempt(22, 'TCP fast open to 192.0.2.1', sub { socket(my $s, AF_INET, SOCK_STREAM, 0) or return undef; defined(send($s, 'x', 0x20000000 | 0x40, at('192.0.2.1', 80))) ? 'sent' : $!{EINPROGRESS} ? 'under way' : undef });
attempt(22, "raw socket of family $_->[0]", sub { socket(my $s, $_->[0], SOCK_RAW, $_->[1]) ? 'made' : undef }) for [AF_INET, 1], [AF_INET, 255], [AF_INET6, 58];
attempt(22, 'ping socket to 192.0.2.1', sub { socket(my $s, AF_INET, SOCK_DGRAM, 1) or return undef; defined(send($s, pack('C2n3', 8, 0, 0, 1, 1), 0, at('192.0.2.1', 0))) ? 'sent' : undef });
attempt(26, 'a query to the name server of the host', sub { reach(SOCK_DGRAM, at('127.0.0.1', $given{dns})); undef });
attempt(26, "a query to $_", sub { reach(SOCK_DGRAM, at($_, 53)) }) for '8.8.8.8', grep { !/^127\./ && !/:/ } ((text('/etc/resolv.conf') // '') =~ /^nameserver\s+(\S+)/mg);
attempt(26, 'a name is resolved', sub { my @found = gethostbyname('example.com'); @found ? 'resolved' : undef });

# 27-30: sockets
sub says { my ($socket) = @_; my $wanted = ''; vec($wanted, fileno($socket), 1) = 1; select(my $ready = $wanted, undef, undef, 1) or return 'connected'; sysread($socket, my $text, 100); return "said $text" }
for my $path (list('sockets')) {
    attempt(27, "connect to $path", sub { socket(my $s, AF_UNIX, SOCK_STREAM, 0) or return undef; connect($s, pack_sockaddr_un($path)) ? says($s) : undef });
}
attempt(27, "connect to $_", sub { socket(my $s, AF_UNIX, SOCK_STREAM, 0) or return undef; connect($s, pack_sockaddr_un($_)) ? 'connected' : undef })
    for grep { -S $_ } glob('/run/*.sock /run/*/*.sock /run/*/*socket* /run/*/.s.* /run/user/*/* /var/run/*/.s.* /run/*/private /tmp/.X11-unix/* /tmp/ssh-*/*');
attempt(28, 'connect to an abstract socket', sub { socket(my $s, AF_UNIX, SOCK_STREAM, 0) or return undef; connect($s, pack_sockaddr_un("\0$given{abstract}")) ? says($s) : undef });
attempt(28, 'a datagram to an abstract socket', sub { socket(my $s, AF_UNIX, SOCK_DGRAM, 0) or return undef; connect($s, pack_sockaddr_un("\0$given{abstract}")) || $!{EPROTOTYPE} ? 'found it' : undef });
attempt(29, 'a socket to the hypervisor', sub { socket(my $s, 40, SOCK_STREAM, 0) ? 'made' : undef });
attempt(29, 'a datagram socket to the hypervisor', sub { socket(my $s, 40, SOCK_DGRAM, 0) ? 'made' : undef });
attempt(30, "netlink protocol $_", sub { socket(my $s, 16, SOCK_RAW, $_) ? 'made' : undef }) for 4, 6, 9, 12, 15, 16, 20;
attempt(30, 'packet socket', sub { socket(my $s, 17, SOCK_RAW, 0x0300) ? 'made' : undef });
attempt(30, "socket of family $_->[1]", sub { socket(my $s, $_->[0], $_->[2], $_->[3] // 0) ? 'made' : undef })
    for [38, 'alg', SOCK_SEQPACKET], [44, 'xdp', SOCK_RAW], [31, 'bluetooth', SOCK_RAW], [29, 'can', SOCK_RAW, 1], [30, 'tipc', SOCK_SEQPACKET], [15, 'key', SOCK_RAW, 2], [21, 'rds', SOCK_SEQPACKET];

# 31-33: parts of the kernel that an agent has no use for
attempt(31, 'io_uring_setup', sub { my $parameters = "\0" x 120; call('io_uring_setup', 4, $parameters) });
attempt(32, 'bpf', sub { my $attribute = pack('L5', 1, 4, 4, 1, 0) . "\0" x 100; call('bpf', 0, $attribute, length $attribute) });
attempt(32, 'userfaultfd', sub { call('userfaultfd', 0) });
attempt(32, 'userfaultfd for user mode', sub { call('userfaultfd', 1) });
attempt(32, 'open /dev/userfaultfd', sub { opened('/dev/userfaultfd', O_RDWR) });
attempt(32, 'perf_event_open', sub { my $attribute = pack('L2Q', 1, 112, 0) . "\0" x 96; call('perf_event_open', $attribute, 0, -1, -1, 0) });
attempt(33, 'add_key', sub { call('add_key', 'user', 'pawl-escape', 'payload', 7, -2) });
attempt(33, 'keyctl finds a keyring', sub { call('keyctl', 0, -3, 0) });
attempt(33, 'keyctl joins a session keyring', sub { call('keyctl', 1, 0) });
attempt(33, 'request_key', sub { my $key = call('request_key', 'user', $given{key} // 'pawl-escape', 0, -2); $key || ($!{ENOKEY} ? 'searched the keyrings' : undef) });

# 34-37: rights, devices, terminal, descriptors
attempt(34, 'new rights can be gained by executing', sub { (text('/proc/self/status') // '') =~ /^NoNewPrivs:\s*0/m ? 'no_new_privs is not set' : undef });
attempt(34, 'capabilities', sub { my ($all) = (text('/proc/self/status') // '') =~ /^CapBnd:\s*(\S+)/m; hex($all // 'f') ? "bounding set $all" : undef }) unless $given{control};
for my $program (list('setuid')) { attempt(34, "execute $program", sub { my $uid = `$program -u 2>/dev/null`; $uid =~ /^0$/ ? 'became root' : undef }) }
attempt(35, 'more devices than promised', sub {
    opendir my $dir, '/dev' or return undef;
    my %known = map { $_ => 1 } qw(. .. null zero full random urandom tty console pts ptmx shm fd stdin stdout stderr core mqueue);
    my @more = grep { !$known{$_} } readdir $dir;
    @more ? "@more[0 .. ($#more > 5 ? 5 : $#more)]" : undef;
});
attempt(36, 'push a character into a terminal', sub {
    my $character = 'x';
    for my $fd (0 .. 2) { return "by descriptor $fd" if -t "/dev/fd/$fd" && call('ioctl', $fd, 0x5412, $character) }
    sysopen(my $tty, '/dev/tty', O_RDWR) or return undef;
    return 'opened the terminal';
});
attempt(37, 'inherited descriptors', sub {
    opendir my $dir, '/proc/self/fd' or return undef;
    for my $fd (grep { /^\d+$/ && $_ > 2 } readdir $dir) { return "descriptor $fd" if -f "/proc/self/fd/$fd" && has(text("/proc/self/fd/$fd")) }
    return undef;
});

# 43, 48, 49: ours, and our other runs'
for my $path (list('ours')) { attempt(43, "change $path", sub { opened($path, O_WRONLY | O_APPEND) }) }
for my $path (list('oursDirs')) { attempt(43, "put a program into $path", sub { put("$path/pawl-escape-git", 'made') }) }
for my $path (list('siblings')) { attempt(48, "read $path", sub { has(text($path)) || listed($path) }) }
for my $path (list('store')) { attempt(49, "read $path", sub { has(text($path)) }) }
# Beyond the corpus
attempt(101, 'terminals of others', sub { for (glob '/dev/pts/[0-9]*') { return $_ if opened($_, O_WRONLY) } undef });
attempt(102, 'core files', sub { (text('/proc/self/limits') // '') =~ /^Max core file size\s+(?!0\s)(\S+)/m ? "of $1 bytes" : undef });
attempt(103, 'a file by its handle', sub {
    my $handle = pack('Ii', 128, 0) . "\0" x 128;
    my $mount = "\0" x 4;
    my $name = $machine eq 'x86_64' ? 303 : 264;
    syscall($name, -100, $workspace, $handle, $mount, 0) == 0 or return undef;
    open my $dir, '<', $workspace or return undef;
    call('open_by_handle_at', fileno $dir, $handle, O_RDONLY);
});
attempt(104, 'shared memory of others', sub { my $id = shmget(0 + $given{shared}, 0, 0); defined $id ? 'found it' : undef });
attempt(104, 'a list of the shared memory of others', sub { my @lines = split /\n/, text('/proc/sysvipc/shm') // ''; @lines > 1 ? 'listed' : undef });
for my $path (list('shm')) { attempt(105, "read $path", sub { has(text($path)) }) }
attempt(106, 'the mounts tell where things are outside', sub { (text('/proc/self/mountinfo') // '') =~ /\Q$given{elsewhere}\E/ ? 'named' : undef });
attempt(107, 'a foreign program interpreter', sub { opened('/proc/sys/fs/binfmt_misc/register', O_WRONLY) || (-e '/proc/sys/fs/binfmt_misc/status' ? opened('/proc/sys/fs/binfmt_misc/status', O_WRONLY) : undef) });
attempt(108, "the kernel's own memory and log: $_", sub { opened($_, O_RDONLY) }) for '/proc/kcore', '/proc/kmsg', '/dev/mem', '/dev/kmsg', '/sys/kernel/debug/tracing', '/sys/kernel/tracing/trace', '/sys/fs/bpf/x';
attempt(109, 'the clock and the name of the machine', sub { my $new = 'escaped'; syscall($machine eq 'x86_64' ? 170 : 161, $new, 7) == 0 ? 'renamed the machine' : undef });
attempt(110, 'a higher priority', sub { $! = 0; setpriority(0, 0, -5) ? 'raised' : undef });
attempt(111, 'compatible system calls of another architecture', sub {
    # A filter that knows one architecture only would let anything pass that way.
    return undef unless $machine eq 'x86_64';
    return undef unless open my $file, '>', "$workspace/old.bin";
    # 32-bit ELF that calls exit(7) the old way.
    print $file pack('H*', '7f454c46010101000000000000000000' . '02000300010000005480040834000000' . '00000000000000003400200001000000' . '00000000' . '01000000' . '00000000' . '00800408' . '00800408' . '60000000' . '60000000' . '05000000' . '00100000' . 'b801000000bb07000000cd80');
    close $file;
    chmod 0755, "$workspace/old.bin";
    system "$workspace/old.bin";
    return ($? >> 8) == 7 ? 'ran' : undef;
});
print "end\n";
