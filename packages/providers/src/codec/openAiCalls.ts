/** Tool calls in OpenAI's two wire formats, with unique ids. */
import type * as Message from "@kintsugi/core/Message"
import type * as Schema from "effect/Schema"

/** A call or a piece of a call, as the server sent it. */
export interface Piece {
  readonly id: string | undefined
  readonly name: string | undefined
  readonly arguments: Schema.Json | undefined
}

/** Makes the call ids of one reply unique. */
export class Ids {
  readonly #used = new Set<string>()
  /** The first number behind each id that may be free. All smaller numbers are used. */
  readonly #next = new Map<string, number>()

  /** The given id, or a new one if it is absent or another call of this reply has it. */
  of(givenId: string | undefined, index: number): string {
    const base = givenId ?? "call"
    let id = givenId ?? `${base}_${index}`
    // Mutant `next--` survives: accepted. A third call of one id gets another free number (x_1 for x_3). The loop still
    // ends at the first id that no call of the reply has
    for (let next = Math.max(index, this.#next.get(base) ?? 0); this.#used.has(id); next++) {
      id = `${base}_${next}`
      // Mutant `next - 1` survives: speed only. The loop passes the used numbers again
      this.#next.set(base, next + 1)
    }
    this.#used.add(id)
    return id
  }
}

/** Makes a tool call. An absent id or name is replaced, so that the call is distinct and can be settled. */
export const callOf = (ids: Ids, index: number, { arguments: args, id, name }: Piece): Message.ToolCall => ({
  type: "tool-call",
  id: ids.of(id, index),
  name: name ?? "",
  arguments: args ?? null
})
