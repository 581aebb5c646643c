using System.Runtime.CompilerServices;
using FastPort.Client.Reports;
using FastPort.Programs;
using FastPort.Tags;
using Google.Protobuf;

namespace FastPort.Client.Tags;

/// <summary>Runs a command of <c>tags</c>.</summary>
internal sealed class TagRun(TagSettings settings, TextWriter output)
{
    /// <summary>Runs the command of a name and returns the exit code: failed if a tag was not read or written.</summary>
    /// <exception cref="TagCommandFailedException">The command cannot be run; the message says why and what to do.</exception>
    public async Task<int> RunAsync(string command, CancellationToken cancellationToken)
    {
        try
        {
            await using TagClient client = await ConnectAsync(cancellationToken).ConfigureAwait(false);
            return command switch
            {
                "browse" => await BrowseAsync(client, cancellationToken).ConfigureAwait(false),
                "read" => await ReadAsync(client, cancellationToken).ConfigureAwait(false),
                "write" => await WriteAsync(client, cancellationToken).ConfigureAwait(false),
                _ => await WatchAsync(client, cancellationToken).ConfigureAwait(false),
            };
        }
        catch (TagException e)
        {
            throw new TagCommandFailedException(e.Message, ExitCode.Failed, e);
        }
        catch (Exception e) when (e is RequestFailedException or InvalidDataException or InvalidProtocolBufferException)
        {
            string advice = settings.TokenFile.Length == 0 && e is RequestFailedException { Code: ErrorCode.Unauthenticated }
                ? " Name a file with a token: --token-file FILE."
                : string.Empty;
            throw new TagCommandFailedException($"{settings.Endpoint}: {e.Message}{advice}", ExitCode.Failed, e);
        }
        catch (OperationCanceledException e) when (cancellationToken.IsCancellationRequested)
        {
            // Ctrl+C is how watch ends.
            return command == "watch"
                ? ExitCode.Good
                : throw new TagCommandFailedException($"Interrupted: tags {command} did not finish.", ExitCode.Failed, e);
        }
    }

    private async Task<TagClient> ConnectAsync(CancellationToken cancellationToken)
    {
        var options = new FastPortClientOptions { Endpoint = settings.Endpoint, TokenFile = settings.TokenFile };
        settings.Access.ApplyTo(options);
        try
        {
            return await TagClient.ConnectAsync(options, cancellationToken: cancellationToken).ConfigureAwait(false);
        }
        catch (EndpointException e)
        {
            throw new TagCommandFailedException(
                $"{e.Message} The bridge starts with: dotnet run -c Release --project src/FastPort.OpcBridge", ExitCode.Failed, e);
        }
    }

    private async Task<int> BrowseAsync(TagClient client, CancellationToken cancellationToken)
    {
        List<TagBrowseNode> nodes = [];
        string start = SafeText.NameFrom(settings.Names[0]);
        await foreach (TagBrowseNode node in WalkAsync(client, start, string.Empty, settings.Recursive, cancellationToken)
            .ConfigureAwait(false))
        {
            nodes.Add(node);
        }

        if (settings.Json)
        {
            await output.WriteLineAsync(TagJson.Of(
                writer =>
                {
                    writer.WriteStartArray();
                    nodes.ForEach(node => TagJson.Write(writer, node));
                    writer.WriteEndArray();
                },
                isIndented: true)).ConfigureAwait(false);
        }
        else
        {
            TagTable.Write(output, nodes);
        }

        return ExitCode.Good;
    }

    private async Task<int> ReadAsync(TagClient client, CancellationToken cancellationToken)
    {
        TagList tags = await ResolveAsync(client, settings.Names, cancellationToken).ConfigureAwait(false);
        TagSamples samples = await client.ReadAsync(tags, settings.MaxAge, settings.Timeout, cancellationToken).ConfigureAwait(false);
        return await ShowAsync([.. tags.Names.Select((name, row) => (name, samples[row]))]).ConfigureAwait(false);
    }

    private async Task<int> WriteAsync(TagClient client, CancellationToken cancellationToken)
    {
        if (settings.Names.Count % 2 != 0)
        {
            throw new TagCommandFailedException($"'{settings.Names[^1]}' has no value; give a value after each name.", ExitCode.Usage);
        }

        string[] texts = [.. settings.Names.Where(static (_, i) => i % 2 == 1)];
        TagList tags = await client
            .ResolveAsync(settings.Names.Where(static (_, i) => i % 2 == 0), cancellationToken).ConfigureAwait(false);
        var values = new TagSamples();
        for (int i = 0; i < texts.Length; i++)
        {
            values.Add(await ParseAsync(client, tags, i, texts[i], cancellationToken).ConfigureAwait(false));
        }

        TagStatus[] statuses;
        try
        {
            statuses = await client.WriteAsync(tags, values, settings.Timeout, cancellationToken).ConfigureAwait(false);
        }
        catch (Exception e) when (
            e is OperationCanceledException or RequestFailedException { Failure: RequestFailure.ConnectionLost or RequestFailure.TimedOut })
        {
            string what = e is OperationCanceledException ? "Interrupted." : e.Message;
            throw new TagCommandFailedException(
                $"{settings.Endpoint}: {what} Whether the tags were written is not known; tags read shows what they are.",
                ExitCode.Failed,
                e);
        }

        return await ShowAsync([.. tags.Names.Select((name, i) => (name, new TagSample(values.GetValue(i), statuses[i])))])
            .ConfigureAwait(false);
    }

    // The type of a tag that the server does not know is that of its value.
    private static async ValueTask<TagValue> ParseAsync(
        TagClient client, TagList tags, int index, string text, CancellationToken cancellationToken)
    {
        if (tags.Infos[index] is not { } info)
        {
            return default;
        }

        if (info.Type == TagType.Null)
        {
            TagSample sample = await client.ReadAsync(info.Name, cancellationToken: cancellationToken).ConfigureAwait(false);
            TagValue present = sample.Value;
            if (present.IsNull && sample.Status.IsBad)
            {
                throw new TagCommandFailedException(
                    $"{SafeText.Name(info.Name)} cannot be written now: its type is not known, and a read of it returned {sample.Status}.",
                    ExitCode.Failed);
            }

            info = info with { Type = present.Type, Rank = present.IsArray ? 1 : -1 };
        }

        return TagText.TryParse(text, info, out TagValue value) ? value
            : TagText.HasForm(info) ? throw new TagCommandFailedException(
                $"'{SafeText.Of(text)}' is not a value for {SafeText.Name(info.Name)}; give {TagText.FormOf(info)}.", ExitCode.Usage)
            : throw new TagCommandFailedException(
                $"{SafeText.Name(info.Name)} cannot be written from a command line: its type is {TypeOf(info)}.", ExitCode.Usage);
    }

    private static string TypeOf(TagInfo info) =>
        info.Type == TagType.Null ? "unknown, because it has no value"
        : info.Rank >= 1 ? $"{info.Type}[{new string(',', info.Rank - 1)}]"
        : $"{info.Type}";

    private async Task<int> WatchAsync(TagClient client, CancellationToken cancellationToken)
    {
        using var end = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        if (settings.Duration is { } duration)
        {
            end.CancelAfter(duration);
        }

        TagList tags = await ResolveAsync(client, settings.Names, cancellationToken).ConfigureAwait(false);
        foreach (string unknown in tags.Names.Where((_, i) => tags.Infos[i] is null))
        {
            // It may be there for other users.
            TagStatus status = (await client.ReadAsync(unknown, cancellationToken: cancellationToken).ConfigureAwait(false)).Status;
            throw new TagCommandFailedException(
                status == TagStatus.BadNodeIdUnknown
                    ? $"There is no tag '{SafeText.Name(unknown)}'; tags browse lists them."
                    : $"'{SafeText.Name(unknown)}' cannot be watched: {status}.",
                ExitCode.Failed);
        }

        await using TagSubscription subscription = await client.SubscribeAsync(
            tags, new() { Interval = settings.Interval, QueueSize = settings.QueueSize }, cancellationToken).ConfigureAwait(false);
        int shown = 0;
        try
        {
            await foreach (TagChange change in subscription.WithCancellation(end.Token).ConfigureAwait(false))
            {
                await output.WriteLineAsync(settings.Json
                    ? TagJson.Of(writer => TagJson.Write(writer, change.Name, change.Sample), isIndented: false)
                    : TagTable.Line(change.Name, change.Sample)).ConfigureAwait(false);
                if (++shown == settings.Count)
                {
                    break;
                }
            }
        }
        catch (OperationCanceledException) when (end.IsCancellationRequested)
        {
            // Ctrl+C, or the time is over.
        }

        return ExitCode.Good;
    }

    private async Task<int> ShowAsync(IReadOnlyList<(string Name, TagSample Sample)> samples)
    {
        if (settings.Json)
        {
            await output.WriteLineAsync(TagJson.Of(
                writer =>
                {
                    writer.WriteStartArray();
                    foreach ((string name, TagSample sample) in samples)
                    {
                        TagJson.Write(writer, name, sample);
                    }

                    writer.WriteEndArray();
                },
                isIndented: true)).ConfigureAwait(false);
        }
        else
        {
            TagTable.Write(output, samples);
        }

        return samples.All(static one => !one.Sample.Status.IsBad) ? ExitCode.Good : ExitCode.Failed;
    }

    // A name with * at its end stands for all tags that begin so.
    private static async Task<TagList> ResolveAsync(TagClient client, IEnumerable<string> names, CancellationToken cancellationToken)
    {
        List<string> all = [];
        foreach (string name in names.Select(SafeText.NameFrom))
        {
            if (!name.EndsWith('*'))
            {
                all.Add(name);
                continue;
            }

            string prefix = name[..^1];
            int before = all.Count;
            string folder = prefix[..Math.Max(prefix.LastIndexOf('/'), 0)];
            await foreach (TagBrowseNode node in WalkAsync(client, folder, prefix, isRecursive: true, cancellationToken)
                .ConfigureAwait(false))
            {
                if (node.Kind == TagBrowseKind.Tag)
                {
                    all.Add(node.Name);
                }
            }

            if (all.Count == before)
            {
                throw new TagCommandFailedException(
                    $"No tag's name begins with '{SafeText.Name(prefix)}'; tags browse lists the names.", ExitCode.Failed);
            }
        }

        return await client.ResolveAsync(all, cancellationToken).ConfigureAwait(false);
    }

    // The nodes directly below a path whose names begin with the prefix; not recursive.
    private static async IAsyncEnumerable<TagBrowseNode> WalkAsync(
        TagClient client, string path, string prefix, bool isRecursive, [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        var paths = new Queue<string>([path]);
        while (paths.TryDequeue(out string? next))
        {
            await foreach (TagBrowseNode node in client.BrowseAsync(next, cancellationToken).ConfigureAwait(false))
            {
                if (!node.Name.StartsWith(prefix, StringComparison.Ordinal))
                {
                    continue;
                }

                yield return node;
                if (isRecursive && node.HasChildren)
                {
                    paths.Enqueue(node.Name);
                }
            }
        }
    }
}
