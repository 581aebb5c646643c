using FastPort.OpcUa.Encoding;
using FastPort.OpcUa.SecureChannel;
using FastPort.OpcUa.Services;

namespace FastPort.OpcUa.Server;

/// <summary>A Publish request that waits for a notification (OPC 10000-4, 5.14.5).</summary>
/// <param name="Channel">The channel that it came on, which may have ended since then.</param>
/// <param name="RequestId">Its id on the channel.</param>
/// <param name="RequestHandle">From its header.</param>
/// <param name="Until">When the client abandons it, as a timestamp of the server's time.</param>
/// <param name="Results">The results of its acknowledgements; null for none.</param>
internal readonly record struct PublishCall(
    ServerChannel Channel, uint RequestId, uint RequestHandle, long Until, StatusCode[]? Results)
{
    /// <summary>Answers with an encoded notification message.</summary>
    public void Reply(uint subscription, uint[] available, bool hasMore, ReadOnlySpan<byte> message)
    {
        MessageBuffer buffer = Channel.BeginResponse();
        var encoder = new BinaryEncoder(buffer);
        Channel.EncodeHeader(ref encoder, PublishResponse.EncodingId, RequestHandle, StatusCodes.Good);
        encoder.Write(subscription);
        encoder.WriteArray(available);
        encoder.WriteBoolean(hasMore);
        encoder.WriteBytes(message);
        encoder.WriteArray(Results);
        encoder.Write(-1);
        encoder.Complete();
        Channel.EndResponse(RequestId, RequestHandle, buffer);
    }

    public void Fault(StatusCode status) => Channel.SendFault(RequestId, RequestHandle, status);
}
