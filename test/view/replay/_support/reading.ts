/** Events for readers of a recording, and what is thrown by one that cannot read them. */
import type { Recorded } from "../../../../packages/view/src/recording/Recorded.ts"

export const event = (fields: object): Recorded => ({
  runId: "r",
  agent: "a",
  turn: 1,
  at: 0,
  type: "verdict",
  ...fields
})

export const thrownBy = (run: () => void): unknown => {
  try {
    run()
  } catch (error) {
    return error
  }
  return undefined
}
