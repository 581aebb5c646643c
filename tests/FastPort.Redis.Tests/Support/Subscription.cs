using System.Threading.Channels;

namespace FastPort.Redis.Tests.Support;

/// <summary>What a client receives on a prefix, in order.</summary>
internal sealed class Subscription
{
    private readonly Channel<(string From, string Topic, string Body)> _messages =
        Channel.CreateUnbounded<(string, string, string)>();

    /// <summary>Number of messages that have not been read.</summary>
    public int Count => _messages.Reader.Count;

    public static async Task<Subscription> MakeAsync(FastPortClient client, string prefix)
    {
        var subscription = new Subscription();
        await client.SubscribeAsync(prefix, subscription.Receive);
        return subscription;
    }

    public void Receive(scoped in RoutedMessage message) => _messages.Writer.TryWrite(
        (message.From, message.Address, Convert.ToHexString(System.Buffers.BuffersExtensions.ToArray(message.Body))));

    public Task<(string From, string Topic, string Body)> NextAsync() => _messages.Reader.ReadAsync(Patience.Token).InTimeAsync();
}

/// <summary>What nodes know of each other's topics.</summary>
internal static class Interests
{
    /// <summary>Waits until a node knows so many prefixes that other nodes want.</summary>
    public static Task KnowsInterestsAsync(this Node node, int prefixes) => Patience.UntilAsync(
        () => node.Backplane.Running!.Topics.Others.Count == prefixes, $"node {node.Backplane.Node} knows {prefixes} prefixes of others");

    public static long PublicationsReceived(this Node node) => node.Backplane.Running!.Transport.Counters.PublicationsReceived;

    public static long PublicationsSent(this Node node) => node.Backplane.Running!.Transport.Counters.PublicationsSent;

    public static long LostPublications(this Node node) => node.Backplane.Running!.Transport.Counters.LostPublications;
}
