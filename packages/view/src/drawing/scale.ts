/**
 * The scale of a drawing: positions of its axis in pixels.
 *
 * @internal
 */

/** Lengths of the layout, in pixels. */
export const gutter = 132
export const margin = 14
export const top = 30

/** Converts between positions of the axis and pixels. */
export const scaleOf = (width: number, { end, start }: { readonly start: number; readonly end: number }) => {
  const [left, room] = [gutter, Math.max(1, width - gutter - margin)]
  const perMilli = room / (end - start)
  return {
    left,
    right: left + room,
    perMilli,
    x: (drawn: number) => left + (drawn - start) * perMilli,
    drawn: (x: number) => start + (x - left) / perMilli
  }
}
