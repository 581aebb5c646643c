namespace FastPort.Protocol.Services;

/// <summary>One instance serves all messages.</summary>
internal sealed class InstanceServiceMap(MessageHandlers handlers, IServerInterceptor[] interceptors, object service)
    : ServiceMap(handlers, interceptors)
{
    private protected override Func<TRequest, Session, TReply> Bind<TService, TRequest, TReply>(
        Func<TService, TRequest, Session, TReply> call)
    {
        var instance = (TService)service;
        return (request, session) => call(instance, request, session);
    }

    private protected override Func<TRequest, RequestContext, ValueTask<TReply>> Bind<TService, TRequest, TReply>(
        Func<TService, TRequest, RequestContext, ValueTask<TReply>> call)
    {
        var instance = (TService)service;
        return (request, context) => call(instance, request, context);
    }

    private protected override Func<TRequest, StreamContext, CancellationToken, ValueTask<TReply>> Bind<TService, TRequest, TReply>(
        Func<TService, TRequest, StreamContext, CancellationToken, ValueTask<TReply>> call)
    {
        var instance = (TService)service;
        return (request, context, canceled) => call(instance, request, context, canceled);
    }

    private protected override Func<TRequest, StreamContext, CancellationToken, IAsyncEnumerable<TReply>> Bind<TService, TRequest, TReply>(
        Func<TService, TRequest, StreamContext, CancellationToken, IAsyncEnumerable<TReply>> call)
    {
        var instance = (TService)service;
        return (request, context, canceled) => call(instance, request, context, canceled);
    }
}
