using System.Runtime.CompilerServices;
using FastPort.Protocol;
using Google.Protobuf;

namespace FastPort.Samples.Tests.Snippets;

/// <summary>Code shown in docs/streams.md.</summary>
internal static class StreamSnippets
{
    private const ushort Letters = 0x1020, Count = 0x1021;

    // docs: handlers
    public static MessageHandlers Map(MessageHandlers handlers) => handlers
        .MapStream(Letters, Echo.Parser, LettersAsync)
        .MapStream(Count, Echo.Parser, CountAsync);

    private static async IAsyncEnumerable<Echo> LettersAsync(
        Echo request, StreamContext context, [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        foreach (char letter in request.Payload.ToStringUtf8())
        {
            await Task.Delay(TimeSpan.FromMilliseconds(10), cancellationToken);
            yield return new Echo { Payload = ByteString.CopyFromUtf8($"{letter}") };
        }
    }

    private static async ValueTask<Echo> CountAsync(
        IAsyncEnumerable<Echo> requests, StreamContext context, CancellationToken cancellationToken)
    {
        int count = 0;
        await foreach (Echo request in requests.WithCancellation(cancellationToken))
        {
            count++;
        }

        return new Echo { Payload = ByteString.CopyFromUtf8($"{count}") };
    }

    // docs: end

    // docs: calls
    public static async Task<string> SpellAndCountAsync(IFastPortClient client, string word)
    {
        List<Echo> letters = [];
        var request = new Echo { Payload = ByteString.CopyFromUtf8(word) };
        await foreach (Echo letter in client.StreamAsync(Letters, request, Echo.Parser))
        {
            letters.Add(letter);
        }

        Echo count = await client.SendStreamAsync(Count, letters.ToAsyncEnumerable(), Echo.Parser);
        return count.Payload.ToStringUtf8();
    }

    // docs: end
}
