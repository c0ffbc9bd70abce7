/** Properties draw the same cases in every run, unless `KINTSUGI_SEED` names another seed. */
import * as fc from "fast-check"

fc.configureGlobal({ seed: Number(process.env["KINTSUGI_SEED"] ?? 4711) })
