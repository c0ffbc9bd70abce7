/** Events with the fields that count here. */
import type { AgentEvent } from "@kintsugi/core"

type Type = AgentEvent.AgentEvent["type"]

export const event = <const T extends Type>(type: T, parts: object = {}): AgentEvent.OfType<T> =>
  // no other field is read here
  ({ type, runId: "r", agent: "worker", turn: 1, at: 0, ...parts }) as unknown as AgentEvent.OfType<T>
