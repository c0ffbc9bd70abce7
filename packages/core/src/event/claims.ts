/** Which snapshots were resumed: each is resumed once, unless a program says that it means to do it again. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"

/** What is claimed, and by which resumption. */
export interface Claim {
  /** The snapshot, by its id. */
  readonly snapshot: string
  /** The resumption. A replay of a durable run makes the same claim once more. */
  readonly claimant: string
}

/** Where it is kept which snapshots were resumed. */
export interface Claims {
  /**
   * Whether the snapshot is this claimant's: it is from the first claim on, and never another one's. One atomic step. A store that
   * cannot be reached is a defect: the run does not go on.
   */
  readonly claim: (claim: Claim) => Effect.Effect<boolean>
}

/**
 * Claims that live in the memory of this process: the last ones, 100,000 by default. Its first use logs that no other process knows
 * of them.
 */
export const claimsOfProcess = ({ most = 100_000 }: { readonly most?: number } = {}): Claims => {
  const claimed = new Map<string, string>()
  let isLogged = false
  const take = ({ claimant, snapshot }: Claim) => {
    const before = claimed.get(snapshot)
    if (before !== undefined) return before === claimant
    for (const oldest of claimed.keys()) {
      if (claimed.size < most) break
      claimed.delete(oldest)
    }
    claimed.set(snapshot, claimant)
    return true
  }
  return {
    claim: (claim) =>
      Effect.suspend(() => {
        const isMine = take(claim)
        if (isLogged) return Effect.succeed(isMine)
        isLogged = true
        return Effect.as(Effect.logInfo(notice), isMine)
      })
  }
}

const notice =
  "Only this process knows which snapshots it has resumed: another one, or this one after a restart, can resume them again. " +
  "SnapshotClaims of @kintsugi/durable keeps that in a store"

/** The claims of this program; `claimsOfProcess` by default. */
export const Claims = Context.Reference<Claims>("@kintsugi/core/Snapshot/Claims", {
  defaultValue: () => claimsOfProcess()
})
