/** A property that fails has found a mutant out: the smallest counterexample is of no use here. */
import * as fc from "fast-check"

fc.configureGlobal({ ...fc.readConfigureGlobal(), endOnFailure: true })
