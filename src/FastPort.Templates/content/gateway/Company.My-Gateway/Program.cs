using Company.My_Gateway;
using Microsoft.Extensions.Hosting;

using IHost gateway = Gateway.Build(args);
await gateway.RunAsync();
