using System.Runtime.CompilerServices;
using FastPort.Protocol;
using FastPort.Tags.Messages;
using Google.Protobuf;

namespace FastPort.Tags;

/// <content>Browse and Call.</content>
public sealed partial class TagClient
{
    /// <summary>
    /// Lists the nodes below a path, page by page as they are enumerated. Nodes that are added or removed in the meantime may be missing or
    /// listed twice.
    /// </summary>
    /// <param name="path">The path: the name of a node that was listed; empty for the root. Defaults to the root.</param>
    /// <param name="cancellationToken">Cancels the call.</param>
    /// <exception cref="TagException">There is no such path, or the server cannot list it; the exception contains the status.</exception>
    /// <exception cref="RequestFailedException">The server answered with an error, or no reply came.</exception>
    public async IAsyncEnumerable<TagBrowseNode> BrowseAsync(
        string path = "", [EnumeratorCancellation] CancellationToken cancellationToken = default)
    {
        Session session = await SessionAsync(cancellationToken).ConfigureAwait(false);
        var request = new BrowseTags { Path = path };
        do
        {
            BrowsedTags reply = await session.RequestAsync(
                TagMessageType.Browse, request, BrowsedTags.Parser, _options.RequestTimeout, cancellationToken).ConfigureAwait(false);
            var status = new TagStatus(reply.Status);
            if (status.IsBad)
            {
                throw new TagException(status, $"'{path}' cannot be browsed: {status}.");
            }

            foreach (TagNode node in reply.Nodes)
            {
                yield return new TagBrowseNode(node.Name, node.DisplayName, (TagBrowseKind)node.Kind, node.HasChildren);
            }

            request.Cursor = reply.Cursor;
        }
        while (!request.Cursor.IsEmpty);
    }

    /// <summary>Calls a method. It is called at most once, even if the connection is lost.</summary>
    /// <param name="method">Its name.</param>
    /// <param name="inputs">The inputs.</param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    /// <returns>The outputs.</returns>
    /// <exception cref="TagException">The method was not found, or returned a bad status; the exception contains it.</exception>
    /// <exception cref="RequestFailedException">
    /// The server answered with an error, or no reply came: it is then unknown whether the method was called.
    /// </exception>
    public async ValueTask<IReadOnlyList<TagValue>> CallAsync(
        string method, IReadOnlyList<TagValue> inputs, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(inputs);
        Session session = await SessionAsync(cancellationToken).ConfigureAwait(false);
        var samples = new TagSamples();
        foreach (TagValue input in inputs)
        {
            samples.Add(input);
        }

        var request = new CallMethod { Name = method, Inputs = Messages.TagSamples.Parser.ParseFrom(samples.ToBytes()) };
        MethodResult result = await session.RequestAsync(
            TagMessageType.Call, request, MethodResult.Parser, _options.RequestTimeout, cancellationToken).ConfigureAwait(false);
        var status = new TagStatus(result.Status);
        var outputs = new TagSamples();
        return status.IsBad ? throw new TagException(status, $"Method '{method}' failed: {status}.")
            : outputs.TryRead(result.Outputs?.ToByteArray() ?? [], int.MaxValue)
                ? [.. Enumerable.Range(0, outputs.Count).Select(outputs.GetValue)]
                : throw new InvalidDataException($"The outputs of method '{method}' are malformed.");
    }
}
