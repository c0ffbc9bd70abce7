/** What a deferred call knows of the other calls of its reply. */

/** The calls of one reply, of a run that may be suspended. */
export interface Beside {
  /** How many of them are at work: neither settled, nor waiting. */
  atWork: number
  /** Called when there is none. */
  readonly onIdle: Set<() => void>
}
