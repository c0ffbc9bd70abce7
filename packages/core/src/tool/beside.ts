/** What a deferred call knows of the other calls in its reply. */

/** The calls of one reply, in a run that may be suspended. */
export interface Beside {
  /** How many of them are at work: neither settled, nor waiting. */
  atWork: number
  /** Called when none of the calls is at work any more. */
  readonly onIdle: Set<() => void>
}
