/** Keeps the last output of a process. */

/** The last 500 characters of a process's output, which usually say why the process has exited. */
export class Last {
  readonly #how: string
  #text = ""

  constructor(how: string) {
    this.#how = how
  }

  add(text: string): void {
    const all = `${this.#text}${text}`
    // A word that is cut is dropped: it may be half a secret, which redaction would not recognise.
    this.#text = all.length > most ? all.slice(-most).replace(/^\S+/, "") : all
  }

  words(): ReadonlyArray<string> {
    const text = this.#text.trim()
    this.#text = ""
    return text === "" ? [] : [`${this.#how}: ${text}`]
  }
}

const most = 500
