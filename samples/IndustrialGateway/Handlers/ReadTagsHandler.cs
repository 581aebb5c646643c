using FastPort;
using FastPort.Protocol;
using IndustrialGateway.Messages;
using IndustrialGateway.Tags;

namespace IndustrialGateway.Handlers;

/// <summary>Reads tags one after the other, until the requester cancels.</summary>
internal sealed class ReadTagsHandler(DeviceLink device, TimeProvider time) : IMessageHandler<ReadTags, TagValues>
{
    private const int MostTags = 1000;

    public async ValueTask<TagValues> HandleAsync(ReadTags request, RequestContext context)
    {
        if (request.Names.Count > MostTags)
        {
            throw new RequestRefusedException(
                ErrorCode.Overloaded, $"The request names {request.Names.Count} tags; at most {MostTags} are allowed.");
        }

        // Created at its first use, so read it once. Canceled when the client cancels the request or disconnects.
        CancellationToken aborted = context.Aborted;
        var values = new TagValues();
        foreach (string name in request.Names)
        {
            double value = await device.ReadAsync(name, aborted);
            values.Values.Add(new TagValue { Name = name, Value = value, UnixMs = time.GetUtcNow().ToUnixTimeMilliseconds() });
        }

        return values;
    }
}
