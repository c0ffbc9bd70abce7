/** Makes call ids that every provider takes: at most 64 letters, digits, `_` and `-`, each unique in a conversation. */

/**
 * Assigns call ids in the order of a conversation. A valid id that is not used yet stays unchanged. Ids of other providers may hold other
 * characters, be longer, or repeat in every turn. An assigned id depends only on the messages before it, so it is the same in every later
 * request.
 */
export class CallIds {
  readonly #used = new Set<string>()
  /** How often each id was asked for. */
  readonly #times = new Map<string, number>()

  next(id: string): string {
    const base = id.replaceAll(/[^\w-]/g, "_").slice(0, maxLength) || "call"
    let given = base
    while (this.#used.has(given)) {
      const times = (this.#times.get(base) ?? 1) + 1
      this.#times.set(base, times)
      const end = `_${times}`
      given = base.slice(0, maxLength - end.length) + end
    }
    this.#used.add(given)
    return given
  }
}

const maxLength = 64
