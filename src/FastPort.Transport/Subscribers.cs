namespace FastPort;

/// <summary>
/// Calls the subscribers of an event: if one throws, the others are still called, and each is called without the execution context of the
/// raising code.
/// </summary>
internal static class Subscribers
{
    /// <summary>Calls all of them, in the order in which they subscribed.</summary>
    /// <typeparam name="TSubscriber">The event's delegate.</typeparam>
    /// <typeparam name="TArgument">What they are called with.</typeparam>
    /// <param name="subscribers">The event; null for no subscribers.</param>
    /// <param name="argument">What they are called with.</param>
    /// <param name="call">Calls one.</param>
    /// <returns>What they threw; empty if none did.</returns>
    public static IReadOnlyList<Exception> Call<TSubscriber, TArgument>(
        TSubscriber? subscribers, TArgument argument, Action<TSubscriber, TArgument> call)
        where TSubscriber : Delegate
    {
        List<Exception>? failures = null;
        foreach (TSubscriber subscriber in Delegate.EnumerateInvocationList(subscribers))
        {
            try
            {
                NoContext.Run(static one => one.call(one.subscriber, one.argument), (call, subscriber, argument));
            }
            catch (Exception e)
            {
                (failures ??= []).Add(e);
            }
        }

        return failures ?? (IReadOnlyList<Exception>)[];
    }
}
