using System.Threading.Channels;
using FastPort.OpcUa.Client;

namespace FastPort.OpcUa.Tests.Support;

/// <summary>Reads of a subscription that wait as long as a test may.</summary>
internal static class ReaderExtensions
{
    public static async Task<DataChange> NextAsync(this OpcUaSubscription subscription) =>
        await subscription.Changes.ReadAsync(Patience.Token);

    /// <summary>The next numbers.</summary>
    public static async Task<IReadOnlyList<int>> NumbersAsync(this OpcUaSubscription subscription, int count)
    {
        List<int> numbers = [];
        while (numbers.Count < count)
        {
            numbers.Add((await subscription.NextAsync()).Value.Value.Get<int>());
        }

        return numbers;
    }

    /// <summary>Why there is no more to read.</summary>
    public static async Task<Exception?> EndAsync(this ChannelReader<DataChange> changes)
    {
        try
        {
            await changes.Completion.InTimeAsync();
            return null;
        }
        catch (OpcUaException e)
        {
            return e;
        }
    }
}
