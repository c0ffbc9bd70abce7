/** The ids of calls, as the provider takes them: of letters, digits, `_` and `-`, each one once in a conversation. */

/**
 * Gives ids out in the order of a conversation. One of this provider's own stays as it is; those of others may hold other
 * characters, or come again in every turn. What is given out depends on what came before and on nothing else, so that it is
 * the same in every later request.
 */
export class CallIds {
  readonly #used = new Set<string>()
  /** How often an id has come. */
  readonly #times = new Map<string, number>()

  next(id: string): string {
    const base = id.replaceAll(/[^\w-]/g, "_") || "call"
    let given = base
    while (this.#used.has(given)) {
      const times = (this.#times.get(base) ?? 1) + 1
      this.#times.set(base, times)
      given = `${base}_${times}`
    }
    this.#used.add(given)
    return given
  }
}
