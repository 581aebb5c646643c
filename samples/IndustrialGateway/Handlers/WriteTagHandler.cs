using FastPort;
using FastPort.Protocol;
using IndustrialGateway.Messages;
using IndustrialGateway.Tags;
using Microsoft.Extensions.Logging;

namespace IndustrialGateway.Handlers;

/// <summary>Sets a tag and logs the session.</summary>
internal sealed class WriteTagHandler(DeviceLink device, ILogger<WriteTagHandler> logger) : IMessageHandler<WriteTag, WriteTagReply>
{
    public async ValueTask<WriteTagReply> HandleAsync(WriteTag request, RequestContext context)
    {
        if (!double.IsFinite(request.Value))
        {
            throw new RequestRefusedException(
                ErrorCode.MalformedBody, $"The value of '{request.Name}' is {request.Value}; it has to be a number.");
        }

        // Without the request's cancellation token: a write that has begun is completed and logged, even if the client no longer waits for
        // the reply.
        double previous = await device.WriteAsync(request.Name, request.Value, CancellationToken.None);
        logger.LogInformation("{Tag}: {Previous} -> {Value} by {Session}", request.Name, previous, request.Value, context.Session);
        return new WriteTagReply { Previous = previous };
    }
}
