import { useState } from 'react'

/** Text that is needed elsewhere, with a button that copies it. Where the browser does not let us, it can still be marked by hand. */
export function Copied({ text, name }: { text: string; name: string }) {
  const [said, setSaid] = useState('Copy')
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => setSaid('Copied'),
      () => setSaid('Mark it by hand'),
    )
  return (
    <span className="row">
      <code>{text}</code>
      {navigator.clipboard && (
        <button type="button" className="quiet small" onClick={copy}>
          {said}
          <span className="hidden-but-read"> {name}</span>
        </button>
      )}
    </span>
  )
}
