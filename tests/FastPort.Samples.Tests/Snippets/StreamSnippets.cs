using System.Runtime.CompilerServices;
using Spelling;

namespace FastPort.Samples.Tests.Snippets;

// docs: service
public sealed class SpellerService : SpellerBase
{
    public override async IAsyncEnumerable<Letter> SpellAsync(
        Word request, StreamContext context, [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        foreach (char letter in request.Text)
        {
            await Task.Delay(TimeSpan.FromMilliseconds(10), cancellationToken);
            yield return new Letter { Text = $"{letter}" };
        }
    }

    public override async ValueTask<Total> CountAsync(
        IAsyncEnumerable<Letter> requests, StreamContext context, CancellationToken cancellationToken) =>
        new Total { Letters = await requests.CountAsync(cancellationToken) };
}

// docs: end

/// <summary>Code shown in docs/streams.md.</summary>
internal static class StreamSnippets
{
    // docs: calls
    public static async Task<int> SpellAndCountAsync(ISpellerClient speller, string word)
    {
        List<Letter> letters = [];
        await foreach (Letter letter in speller.SpellAsync(new Word { Text = word }))
        {
            letters.Add(letter);
        }

        Total total = await speller.CountAsync(letters.ToAsyncEnumerable());
        return total.Letters;
    }

    // docs: end
}
