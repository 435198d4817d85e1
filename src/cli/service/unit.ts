/** What a service is made of: all of it is known when it is written, and none of it is secret. */
export interface ServiceParts {
  /** The program and its arguments, absolute. */
  readonly command: readonly string[]
  readonly home: string
  /** Where agents' programs are looked for: a service is started without what a shell's files set. */
  readonly path: string
  readonly logFile: string
}

/** A unit of systemd's for one user. */
export function systemdUnit({ command, home, path }: ServiceParts): string {
  return `[Unit]
Description=Pawl: runs coding agents unattended
After=network-online.target

[Service]
Type=simple
ExecStart=${command.map(systemdWord).join(' ')}
WorkingDirectory=-${home.replaceAll('%', '%%')}
Environment=${quoted(`PAWL_HOME=${home}`)}
Environment=${quoted(`PATH=${path}`)}
# "pawl stop" ends it with 0, and it stays stopped; a crash or a lost database starts it again. 2 is a mistake in the settings:
# trying again would not mend it.
Restart=on-failure
RestartSec=5
RestartPreventExitStatus=2
# The daemon itself stops agents with grace and its database last; what is left after that is ended.
KillMode=mixed
KillSignal=SIGTERM
TimeoutStopSec=120

[Install]
WantedBy=default.target
`
}

/** A property list of launchd's for one user. */
export function launchdFile({ command, home, path, logFile }: ServiceParts): string {
  const strings = command.map((word) => `    <string>${xml(word)}</string>`).join('\n')
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>${launchdLabel}</string>
  <key>ProgramArguments</key>
  <array>
${strings}
  </array>
  <key>WorkingDirectory</key>
  <string>${xml(home)}</string>
  <key>EnvironmentVariables</key>
  <dict>
    <key>PAWL_HOME</key>
    <string>${xml(home)}</string>
    <key>PATH</key>
    <string>${xml(path)}</string>
  </dict>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>ThrottleInterval</key>
  <integer>10</integer>
  <key>ExitTimeOut</key>
  <integer>120</integer>
  <key>ProcessType</key>
  <string>Background</string>
  <key>StandardOutPath</key>
  <string>${xml(logFile)}</string>
  <key>StandardErrorPath</key>
  <string>${xml(logFile)}</string>
</dict>
</plist>
`
}

export const launchdLabel = 'pawl.daemon'
export const unitName = 'pawl.service'

/** Quoted so that spaces, quotes and percent signs stay what they are. */
const quoted = (text: string) => `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('%', '%%')}"`
/** In a command a dollar sign begins a variable; in a variable it is a sign like any other. */
const systemdWord = (word: string) => quoted(word).replaceAll('$', '$$$$')

const xml = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
