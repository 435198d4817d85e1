/** What somebody wrote as markdown, for one line of a list: the words without the marks. It is only shown as text, so what is left by mistake does no harm. */
export function withoutMarks(text: string): string {
  return (
    text
      // Nobody reads more than this in a line, and some of these patterns walk far.
      .slice(0, 4_000)
      .replaceAll(/^[ \t]*(?:```|~~~)[^\n]*$/gm, '')
      .replaceAll(/!?\[([^\]\n]{0,200})\]\([^)\n]{0,500}\)/g, '$1')
      .replaceAll(/^[ \t]*(?:#{1,6}|>)[ \t]+/gm, '')
      .replaceAll(/^[ \t]*[-*+][ \t]+/gm, '· ')
      .replaceAll(/(\*\*|__)(?=\S)([^\n]{1,500}?)\1/g, '$2')
      .replaceAll(/`([^`\n]{1,500})`/g, '$1')
  )
}
