/** Recognises requests that end with the beginning of their reply. */
import type * as Model from "@kintsugi/core/Model"

/** Whether the last message is an incomplete message of the model, which the model has to continue. */
export const isContinued = ({ messages }: Model.Request): boolean => {
  const last = messages.at(-1)
  return last?.role === "assistant" && last.incomplete === true
}
