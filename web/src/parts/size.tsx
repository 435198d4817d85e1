const units = ['B', 'KiB', 'MiB', 'GiB'] as const

/** How large something is, for people. */
export function Size({ bytes }: { bytes: number }) {
  let value = bytes
  let unit = 0
  for (; value >= 1024 && unit < units.length - 1; unit++) value /= 1024
  return (
    <span className="faint small">{`${unit === 0 || value >= 10 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`}</span>
  )
}
