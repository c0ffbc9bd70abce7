/** Properties draw the same cases in every run, as many as `KINTSUGI_CASES` says, from the seed that `KINTSUGI_SEED` says. */
import * as fc from "fast-check"
import { casesIn, seedIn } from "../../scripts/cases.ts"

fc.configureGlobal({ seed: seedIn(process.env), numRuns: casesIn(process.env) })
