/** Cuts a long text for a model, if possible at the end of a paragraph, a sentence or a word. */

/** The separators at which a text may be cut, best first. */
const seams: ReadonlyArray<string> = ["\n\n", "\n", ". ", ", ", " "]

const mark = "..."

/**
 * At most `max` characters (code points) of a text. It is cut at the last blank line, line end, sentence, comma or space that keeps at
 * least half of `max`, otherwise at the limit. It ends with `...` if `max` is more than three.
 *
 * @internal
 */
export const truncated = (text: string, max: number): string => {
  // Mutant `false` survives: speed only. A text has no more characters than code units
  if (text.length <= max) return text
  const chars = Array.from(text)
  if (chars.length <= max) return text
  if (max <= mark.length) return chars.slice(0, max).join("")
  const room = max - mark.length
  const head = chars.slice(0, room).join("")
  // one character more, because a blank at the limit still ends a sentence or a word
  const wide = chars.slice(0, room + 1).join("")
  for (const seam of seams) {
    // where there is no such seam, less than half is left
    const whole = wide.slice(0, wide.lastIndexOf(seam) + seam.length).trimEnd()
    if (Array.from(whole).length * 2 >= max) return whole + mark
  }
  return head + mark
}
