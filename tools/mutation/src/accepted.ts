/** Which mutants may survive, and which tests of rules may find out none: each with its reason. */
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "../../../scripts/files.ts"
import { identity } from "./instrument.ts"
import type { Mutant } from "./protocol.ts"

/** A mutant that may survive: known by its line's text, wherever the line has moved. */
export interface Accepted {
  readonly file: string
  readonly text: string
  readonly mutator: string
  readonly from: string
  readonly to: string
  readonly nth: number
  readonly reason: string
}

export interface AcceptedTest {
  readonly test: string
  readonly reason: string
}

export interface Acceptance {
  readonly survivors: ReadonlyArray<Accepted>
  readonly tests: ReadonlyArray<AcceptedTest>
}

export const acceptedPath = "tools/mutation/accepted.json"

export const readAccepted = (): Acceptance =>
  existsSync(join(root, acceptedPath))
    ? JSON.parse(readFileSync(join(root, acceptedPath), "utf8"))
    : { survivors: [], tests: [] }

export const keyOf = (mutant: Omit<Mutant, "id" | "line">): string => `${identity(mutant)}#${mutant.nth}`
