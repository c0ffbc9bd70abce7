/** What a process has written last. */

/** The end of a process's output: usually the reason why it exited. */
export class Last {
  readonly #how: string
  #text = ""

  constructor(how: string) {
    this.#how = how
  }

  add(text: string): void {
    const all = `${this.#text}${text}`
    // A cut word may be half a secret, which redaction would not recognise.
    this.#text = all.length > most ? all.slice(-most).replace(/^\S+/, "") : all
  }

  words(): ReadonlyArray<string> {
    const text = this.#text.trim()
    this.#text = ""
    return text === "" ? [] : [`${this.#how}: ${text}`]
  }
}

const most = 500
