/** The calls of OpenAI's two formats, with ids that tell them apart. */
import type * as Message from "@kintsugi/core/Message"
import type * as Schema from "effect/Schema"

/** A call, or a piece of one, as it came. */
export interface Piece {
  readonly id: string | undefined
  readonly name: string | undefined
  readonly arguments: Schema.Json | undefined
}

/** The ids of one reply, no two of them alike. */
export class Ids {
  readonly #used = new Set<string>()
  /** The first number behind a word that may be free: those before it are used. */
  readonly #next = new Map<string, number>()

  /** The id that was told, unless another call of this reply has it. */
  of(told: string | undefined, index: number): string {
    const base = told ?? "call"
    let id = told ?? `${base}_${index}`
    // Mutant `next--` survives: accepted. A third call of one id gets another free number (x_1 for x_3). The loop still
    // ends at the first id that no call of the reply has
    for (let next = Math.max(index, this.#next.get(base) ?? 0); this.#used.has(id); next++) {
      id = `${base}_${next}`
      this.#next.set(base, next + 1)
    }
    this.#used.add(id)
    return id
  }
}

/** A call; what a careless server left out is filled with what keeps the call distinct and settleable. */
export const callOf = (ids: Ids, index: number, { arguments: args, id, name }: Piece): Message.ToolCall => ({
  type: "tool-call",
  id: ids.of(id, index),
  name: name ?? "",
  arguments: args ?? null
})
