/** Claims on snapshots: each snapshot is resumed once, unless the program asks for a repetition. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"

/** A claim of one resumption on a snapshot. */
type Claim = {
  /** The id of the snapshot. */
  readonly snapshot: string
  /** The id of the resumption. A replay of a durable run makes the same claim once more. */
  readonly claimant: string
}

/** A store of claims. */
export interface Claims {
  /**
   * Whether the snapshot belongs to this claimant. The first claim decides, for ever. The store does this in one atomic step. A store that
   * cannot be reached is a defect: the run does not go on.
   */
  readonly claim: (claim: Claim) => Effect.Effect<boolean>
}

/**
 * Claims in the memory of this process. It keeps the last `most` of them, 100,000 by default. The first claim logs that other processes do
 * not know the claims.
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
  "Only this process knows which snapshots it has resumed: another process, or this process after a restart, can resume them a second time. " +
  "SnapshotClaims of @kintsugi/durable keeps that in a store"

/** The claims of this program; `claimsOfProcess` by default. */
export const Claims = Context.Reference<Claims>("@kintsugi/core/Snapshot/Claims", {
  defaultValue: () => claimsOfProcess()
})
