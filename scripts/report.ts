/** Counts checks as they end, and prints the result of each. */

/** Whether a run of continuous integration is on: there nothing may be left out. */
export const isCi = (environment: Readonly<Record<string, string | undefined>> = process.env): boolean =>
  !["", "0", "false"].includes(environment["CI"] ?? "")

export class Report {
  passed = 0
  failed = 0
  skipped = 0
  readonly #say: (line: string) => void

  constructor(say: (line: string) => void = console.log) {
    this.#say = say
  }

  check(what: string, isRight: boolean, said = ""): void {
    if (isRight) this.passed++
    else this.failed++
    this.#say(`${isRight ? "ok     " : "FAILED "} ${what}${isRight || said === "" ? "" : `: ${said}`}`)
  }

  /** One for each thing that could not be tried. */
  skip(what: string, why: string): void {
    this.skipped++
    this.#say(`skipped ${what}: ${why}`)
  }

  /** Takes in what others have counted. */
  count(what: string, { failed, passed, skipped }: Record<"passed" | "failed" | "skipped", number>): void {
    this.passed += passed
    this.failed += failed
    this.skipped += skipped
    this.#say(`${failed === 0 ? "ok     " : "FAILED "} ${what}: ${passed} passed, ${failed} failed, ${skipped} skipped`)
  }

  /** Says the sum as the last line. Whether all is well: nothing failed, something passed, and in CI nothing was skipped. */
  end(inCi = isCi()): boolean {
    this.#say(`${this.passed} passed, ${this.failed} failed, ${this.skipped} skipped`)
    return this.failed === 0 && this.passed > 0 && !(inCi && this.skipped > 0)
  }
}
