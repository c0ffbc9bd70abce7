/** The orders of a shop, and its till. */
import { Context, Effect, Layer, Option, Schema } from "effect"

export class NoSuchOrder extends Schema.TaggedError<NoSuchOrder>()("NoSuchOrder", { message: Schema.String }) {}

export class ShopBusy extends Schema.TaggedError<ShopBusy>()("ShopBusy", { message: Schema.String }) {}

export const Order = Schema.Struct({ id: Schema.String, item: Schema.String, cents: Schema.Int })

export interface Refund {
  /** A second refund with the same key gives the first one: it pays nothing. */
  readonly key: string
  readonly orderId: string
  readonly cents: number
}

export class Shop extends Context.Service<
  Shop,
  {
    readonly find: (orderId: string) => Effect.Effect<typeof Order.Type, NoSuchOrder | ShopBusy>
    readonly refund: (refund: Refund) => Effect.Effect<string, NoSuchOrder>
    /** The receipt of the refund with this key, if it was paid. */
    readonly receipt: (key: string) => Effect.Effect<Option.Option<string>>
  }
>()("examples/backend/Shop") {}

/** A shop in memory. In yours, this is a database, and the till is another service. */
export const layerMemory = (orders: ReadonlyArray<typeof Order.Type>): Layer.Layer<Shop> =>
  Layer.sync(Shop, () => {
    const paid = new Map<string, string>()
    const find = (orderId: string) =>
      Effect.mapError(
        Effect.fromOption(Option.fromUndefinedOr(orders.find(({ id }) => id === orderId))),
        () => new NoSuchOrder({ message: `There is no order '${orderId}'.` })
      )
    const pay = ({ cents, key, orderId }: Refund) =>
      Effect.sync(() => {
        const receipt = paid.get(key) ?? `refund ${paid.size + 1}: ${cents} cents for ${orderId}`
        paid.set(key, receipt)
        return receipt
      })
    return {
      find,
      refund: (refund) => Effect.andThen(find(refund.orderId), pay(refund)),
      receipt: (key) => Effect.sync(() => Option.fromUndefinedOr(paid.get(key)))
    }
  })
