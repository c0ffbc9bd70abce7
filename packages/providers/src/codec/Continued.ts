/** Requests that end with the beginning of their reply. */
import type * as Model from "@kintsugi/core/Model"

/** Whether the last message is one of the model that it has to go on with. */
export const isContinued = ({ messages }: Model.Request): boolean => {
  const last = messages.at(-1)
  return last?.role === "assistant" && last.incomplete === true
}
