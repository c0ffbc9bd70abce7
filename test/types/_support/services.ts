/** Six services, that hovers name. */
import { Context } from "effect"

export class S1 extends Context.Service<S1, 1>()("test/S1") {}
export class S2 extends Context.Service<S2, 2>()("test/S2") {}
export class S3 extends Context.Service<S3, 3>()("test/S3") {}
export class S4 extends Context.Service<S4, 4>()("test/S4") {}
export class S5 extends Context.Service<S5, 5>()("test/S5") {}
export class S6 extends Context.Service<S6, 6>()("test/S6") {}
