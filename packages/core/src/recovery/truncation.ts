/** Cutting a long text for a model at a place where a reader would cut it. */

/** The places, best first; after each of them the text may end. */
const seams: ReadonlyArray<string> = ["\n\n", "\n", ". ", ", ", " "]

const mark = "..."

/**
 * At most `max` characters (code points) of a text. It is cut at the last blank line, line end, sentence, comma or space
 * that keeps at least half of `max`, else hard, and ends with `...` where there is room for more than that.
 *
 * @internal
 */
export const truncated = (text: string, max: number): string => {
  if (text.length <= max) return text
  const chars = Array.from(text)
  if (chars.length <= max) return text
  if (max <= mark.length) return chars.slice(0, max).join("")
  const room = max - mark.length
  const head = chars.slice(0, room).join("")
  // the blank after a seam may be the first character that is left out
  const wide = chars.slice(0, room + 1).join("")
  for (const seam of seams) {
    const at = wide.lastIndexOf(seam)
    const whole = at < 0 ? "" : wide.slice(0, at + seam.trimEnd().length).trimEnd()
    if (whole !== "" && Array.from(whole).length * 2 >= max && whole.length <= head.length) return whole + mark
  }
  return head + mark
}
