/** Formats times of the wall clock, in UTC. */

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

/** Whether a number of milliseconds is a time that a date can hold. */
const isDate = (at: number): boolean => Math.abs(at) <= 8.64e15

/** The time as ISO 8601; empty if it is no time. */
export const dateOf = (at: number): string => (isDate(at) ? new Date(at).toISOString() : "")

/** `22:39:00.000` */
export const timeOf = (at: number): string => (isDate(at) ? dateOf(at).slice(-13, -1) : "?")

const day = (at: number): string => {
  const date = new Date(at)
  return `${date.getUTCDate()} ${months[date.getUTCMonth()] ?? ""} ${date.getUTCFullYear()}`
}

/** `21 Nov 2026 22:39:00 → 22 Nov 2026 01:40:00 UTC` */
export const period = (from: number, to: number): string => {
  if (!isDate(from) || !isDate(to)) return ""
  const [start, end] = [day(from), day(to)]
  const seconds = (at: number) => timeOf(at).slice(0, 8)
  return `${start} ${seconds(from)} → ${start === end ? "" : `${end} `}${seconds(to)} UTC`
}
