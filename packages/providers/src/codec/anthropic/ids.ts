/** The ids of calls, as the provider takes them: at most 64 letters, digits, `_` and `-`, each one once in a conversation. */

/**
 * Gives ids out in the order of a conversation. One of this provider's own stays as it is; those of others may hold other
 * characters, be longer, or come again in every turn. What is given out depends on what came before and on nothing else, so that it is
 * the same in every later request.
 */
export class CallIds {
  readonly #used = new Set<string>()
  /** How often an id has come. */
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
