/** After how many equal failures of a tool in a row what is done about them. */
export interface RepeatedFailures {
  /** From here on the model is told that it repeats itself; 3 by default. */
  readonly hint: number
  /** The tool is withheld for one turn; 4 by default. */
  readonly withhold: number
  /** The run ends; 5 by default. */
  readonly stop: number
}

/** A hint after 3 equal failures in a row, the tool withheld after 4, the end of the run after 5. */
export const defaults: RepeatedFailures = { hint: 3, withhold: 4, stop: 5 }
