/** Sixty ways to name a file that is not meant. `canary` is a file outside, which none of them may reach. */
export function traversals(canary: string): string[] {
  const up = '../'.repeat(12)
  const bare = canary.slice(1)
  const slash = (by: string) => `${up.replaceAll('/', by)}${bare.replaceAll('/', by)}`
  const dots = (by: string) => up.replaceAll('..', by)
  return [
    ...[`..`, `../`, `../..`, `${up}${bare}`, `./${up}${bare}`, `x/${up}${bare}`, `${up}${bare}\0`, `${up}${bare}\0.txt`],
    ...[
      `..\\`,
      slash('\\'),
      `..\\/`,
      `${slash('\\')}\\..`,
      `C:\\${bare}`,
      `C:/${bare}`,
      `\\\\host\\share`,
      `file://${canary}`,
      `file:${bare}`,
    ],
    ...[
      slash('%2f'),
      slash('%2F'),
      slash('%252f'),
      slash('%25252f'),
      `${dots('%2e%2e')}${bare}`,
      `${dots('%252e%252e')}${bare}`,
      `%2e%2e%2f${bare}`,
    ],
    ...[
      `${dots('..%c0%af')}${bare}`,
      `..%c1%9c${bare}`,
      `..%e0%80%af${bare}`,
      `%c0%ae%c0%ae/${bare}`,
      `..\u2215${bare}`,
      `..\uff0f${bare}`,
      `\uff0e\uff0e/${bare}`,
    ],
    ...[`....//${bare}`, `..././${bare}`, `....\\/${bare}`, `..//..//${bare}`, `.../...//${bare}`, `..;/${bare}`, `;/../${bare}`],
    ...[canary, `//${bare}`, `///${bare}`, `/./${bare}`, `/x/..${canary}`, `~/${bare}`, `~root/${bare}`, `$HOME/${bare}`],
    ...[
      `/proc/self/root${canary}`,
      `/proc/self/cwd/${up}${bare}`,
      '/proc/self/fd/3',
      '/proc/self/environ',
      '/dev/stdin',
      '/dev/fd/0',
      'CON',
      'NUL.txt',
    ],
    ...[`--help`, `-rf`, `:(top)${bare}`, `${canary}.`, `${canary} `, `${'a/'.repeat(2_048)}${bare}`, `${'x'.repeat(4_096)}`],
  ]
}
